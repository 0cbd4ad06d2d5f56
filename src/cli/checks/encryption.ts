import { readEncryptionKeys } from "../../config/encryption-keys.ts";
import { type Environment, readSettings } from "../../config/settings.ts";
import { SettingsError } from "../../errors.ts";
import { readIfAny } from "../stores.ts";
import { type Finding, ok, wrong, wrongSettings } from "./finding.ts";

const CHECK = "encryption";

/** Checks that the files of the keys can be used. */
export function checkKeys(files: readonly string[] | undefined): Finding[] {
  try {
    readEncryptionKeys(files);
    return [];
  } catch (error) {
    return wrongSettings(CHECK, error);
  }
}

/** Checks that all keys are there with which payloads may be encrypted. */
export async function checkEncryption(environment: Environment): Promise<Finding[]> {
  try {
    const { ENCRYPTION_KEYS: files = [] } = readSettings(environment, ["ENCRYPTION_KEYS"]);
    const missing = await readIfAny(environment, [], ({ encryption }) => encryption.missingKeys());
    if (missing.length > 0) {
      const found = `payloads may be encrypted with ${missing.join(", ")}, which ENCRYPTION_KEYS does not have`;
      return [wrong(CHECK, found, "add the file of each key; or run authserve encrypt, which counts their payloads")];
    }
    return files.length === 0 ? [] : [ok(CHECK, `${files.length === 1 ? "the key is" : "all keys are"} there`)];
  } catch (error) {
    if (error instanceof SettingsError) return wrongSettings(CHECK, error);
    throw error;
  }
}
