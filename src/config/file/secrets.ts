import { resolve } from "node:path";
import * as v from "valibot";
import { systemCode } from "../../errors.ts";
import { markOf, type Secret } from "../../webhook/signature/secret.ts";
import { readSecretFile, SIGNING_SECRET_FORM, signingKeyOf, weaknessesOfWebhookSecret } from "../secrets.ts";
import type { Reading } from "./reading.ts";
import { becomes } from "./shape.ts";

/** Reads the secret of a reference, `env:NAME` or `file:PATH` relative to the file's folder. No fault has its value. */
export function readSecretRef(reference: string, reading: Reading): Secret | null {
  const { folder, environment, tokenSecrets, secretNames } = reading.context;
  const [, kind, rest = ""] = /^(env|file):(.+)$/.exec(reference) ?? [];
  if (kind === undefined || (kind === "env" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)))
    return reading.fault("found a literal value, expected env:NAME or file:PATH");
  if (kind === "env") secretNames.add(rest);
  let value: string | undefined;
  try {
    value = kind === "env" ? environment[rest] : readSecretFile(resolve(folder, rest));
  } catch (error) {
    const why = `which cannot be read (${systemCode(error)})`;
    return reading.fault(`found ${reference}, ${why}, expected a readable file`);
  }
  if (value === undefined || value === "") {
    const found = kind === "env" ? "which is not set" : "which is empty";
    // What stands after env: may be a secret itself.
    const named = kind === "env" && !/^[A-Z][A-Z0-9_]*$/.test(rest) ? "env: and a name in small letters" : reference;
    return reading.fault(`found ${named}, ${found}, expected a secret`);
  }
  if (value.includes("\uFFFD")) return reading.fault(`found ${reference}, which is not UTF-8, expected text`);
  if (tokenSecrets.includes(value))
    return reading.fault(`found ${reference}, which is also a secret of tokens, expected a different one`);
  return { name: reference, value, mark: markOf(value) };
}

/** Warns of what is weak about a secret. */
export function warnOfWeakness({ name, value }: Secret, reading: Reading): void {
  for (const weakness of weaknessesOfWebhookSecret(value)) reading.warn(`${name} ${weakness}`);
}

/** The key of a secret that signs requests. Null if it cannot be used. */
export function signingKeyIn(secret: Secret, reading: Reading): Uint8Array | null {
  warnOfWeakness(secret, reading);
  const key = signingKeyOf(secret.value);
  return key ?? reading.fault(`found ${secret.name}, whose value does not have the form, ${SIGNING_SECRET_FORM}`);
}

/** A reference to a secret. */
export const SECRET = v.pipe(v.string("expected env:NAME or file:PATH"), becomes(readSecretRef));
