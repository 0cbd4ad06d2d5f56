import { planOf, UNREADABLE_REMEDY } from "../../auth/clients/key-rotation.ts";
import type { StoredSigningKey } from "../../auth/clients/store.ts";
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

/** Checks that all keys are there with which payloads and signing keys may be encrypted. */
export async function checkEncryption(environment: Environment): Promise<Finding[]> {
  try {
    const { ENCRYPTION_KEYS: files = [] } = readSettings(environment, ["ENCRYPTION_KEYS"]);
    const findings = await readIfAny<Finding[]>(environment, [], async ({ encryption, clients, now }) => [
      ...missingKeys(await encryption.missingKeys()),
      ...unreadable(await clients.signingKeys(), now()),
    ]);
    if (findings.length > 0) return findings;
    return files.length === 0 ? [] : [ok(CHECK, `${files.length === 1 ? "the key is" : "all keys are"} there`)];
  } catch (error) {
    if (error instanceof SettingsError) return wrongSettings(CHECK, error);
    throw error;
  }
}

function missingKeys(missing: readonly string[]): Finding[] {
  if (missing.length === 0) return [];
  const found = `payloads may be encrypted with ${missing.join(", ")}, which ENCRYPTION_KEYS does not have`;
  return [wrong(CHECK, found, "add the file of each key; or run authserve encrypt, which counts their payloads")];
}

/** The signing keys that cannot be read, and that no other one has replaced. */
function unreadable(keys: readonly StoredSigningKey[], now: number): Finding[] {
  const plans = [...new Set(keys.map(({ algorithm }) => algorithm))].flatMap((one) => planOf(keys, one, now));
  return plans
    .filter(({ state, signsUntil }) => state === "unreadable" && (signsUntil ?? now + 1) > now)
    .map(({ key }) => wrong(CHECK, `the key ${key.id}, which signs tokens for apps, ${key.fault}`, UNREADABLE_REMEDY));
}
