import { existsSync, readFileSync } from "node:fs";
import { describeError, type Fault, SettingsError, systemCode } from "../errors.ts";
import { LET_READ, remedyAt } from "./service.ts";

const REMEDY = "make a key with openssl rand -base64 32 > FILE, with mode 0600";
const KEY_BYTES = 32;

/** Reads the files of `ENCRYPTION_KEYS`: each has 32 bytes in base64 or hex. Throws {@link SettingsError}. */
export function readEncryptionKeys(files: readonly string[] = []): Uint8Array[] {
  const read = files.map(readKey);
  const faults = read.filter((key): key is Fault => !(key instanceof Uint8Array));
  if (faults.length > 0) throw new SettingsError(faults);
  return read as Uint8Array[];
}

function readKey(file: string): Uint8Array | Fault {
  if (keyIn(file) !== null && !isPath(file))
    return { found: "ENCRYPTION_KEYS has a key itself", remedy: `name its file: ${REMEDY}` };
  try {
    const key = keyIn(readFileSync(file, "utf8").trim());
    if (key !== null) return key;
    return { found: `ENCRYPTION_KEYS: ${file} has no key of ${KEY_BYTES} bytes in base64 or hex`, remedy: REMEDY };
  } catch (error) {
    const code = systemCode(error);
    const found = `ENCRYPTION_KEYS: ${file} cannot be read (${code || describeError(error)})`;
    return { found, remedy: code === "EACCES" ? remedyAt(LET_READ) : REMEDY };
  }
}

/** Whether a text in the form of a key names a file. A key may have slashes too, but no folder has its beginning. */
function isPath(text: string): boolean {
  const first = /^\/?[^/]+(?=\/)/.exec(text)?.[0];
  return existsSync(text) || (first !== undefined && existsSync(first));
}

function keyIn(text: string): Uint8Array | null {
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null;
  return Buffer.from(text, isHex ? "hex" : "base64");
}
