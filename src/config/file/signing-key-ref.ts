import { SIGNING_SECRET_FORM, signingKeyOf } from "../signing-key.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secret-refs.ts";
import type { Path } from "./yaml-document.ts";

/** Reads the secret that signs requests. Null if it cannot be used. */
export function readSigningKey(reference: string, path: Path, reading: Reading): Uint8Array | null {
  const { context, faults, warnings } = reading;
  const read = readSecretRef(reference, context);
  if ("fault" in read) {
    faults.push({ path, message: read.fault });
    return null;
  }
  warnings.push(...read.warnings.map((message) => ({ path, message: `${reference} ${message}` })));
  const key = signingKeyOf(read.secret.value);
  if (key === null) {
    const found = `found ${reference}, whose value does not have the form`;
    faults.push({ path, message: `${found}, ${SIGNING_SECRET_FORM}` });
  }
  return key;
}
