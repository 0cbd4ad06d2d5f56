import { resolve } from "node:path";
import { systemCode } from "../../errors.ts";
import { markOf } from "../../webhook/secrets/secret-mark.ts";
import { type HmacScheme, needsOf, type Scheme } from "../../webhook/signature/schemes.ts";
import { bytesOfWhsec, keysOf } from "../../webhook/signature/secret-key.ts";
import type { Secret } from "../../webhook/source.ts";
import { readSecretFile } from "../secrets.ts";
import { LEAST_WHSEC_BYTES } from "../warnings.ts";
import type { EntryContext } from "./reading.ts";

/** A secret, or why it cannot be used. A fault never has its value. */
export type ReadSecret = { secret: Secret; warnings: string[] } | { fault: string };

const LEAST_LENGTH = 16;

/** Reads the secret of a reference, `env:NAME` or `file:PATH` relative to the file's folder. */
export function readSecretRef(reference: string, context: EntryContext): ReadSecret {
  const { folder, environment, tokenSecrets, secretNames } = context;
  const [, kind, rest = ""] = /^(env|file):(.+)$/.exec(reference) ?? [];
  if (kind === undefined || (kind === "env" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(rest))) {
    return { fault: "found a literal value, expected env:NAME or file:PATH" };
  }
  if (kind === "env") secretNames.add(rest);
  let value: string | undefined;
  try {
    value = kind === "env" ? environment[rest] : readSecretFile(resolve(folder, rest));
  } catch (error) {
    return { fault: `found ${reference}, which cannot be read (${systemCode(error)}), expected a readable file` };
  }
  if (value === undefined || value === "") {
    const found = kind === "env" ? "which is not set" : "which is empty";
    // What stands after env: may be a secret itself.
    const named = kind === "env" && !/^[A-Z][A-Z0-9_]*$/.test(rest) ? "env: and a name in small letters" : reference;
    return { fault: `found ${named}, ${found}, expected a secret` };
  }
  if (value.includes("\uFFFD")) return { fault: `found ${reference}, which is not UTF-8, expected text` };
  if (tokenSecrets.includes(value)) {
    return { fault: `found ${reference}, which is also a secret of tokens, expected a different one` };
  }
  return { secret: { name: reference, value, mark: markOf(value) }, warnings: weaknessesOf(value) };
}

function weaknessesOf(value: string): string[] {
  const warnings: string[] = [];
  if (value.length < LEAST_LENGTH) warnings.push(`is shorter than ${LEAST_LENGTH} characters: use a random one`);
  if (/^\s|\s$/.test(value))
    warnings.push("begins or ends with white space: remove it, unless the other side's secret has it, too");
  const bytes = bytesOfWhsec(value);
  if (bytes !== null && bytes > 0 && bytes < LEAST_WHSEC_BYTES) {
    warnings.push(`has ${bytes} bytes after whsec_, fewer than ${LEAST_WHSEC_BYTES}: use a random one`);
  }
  return warnings;
}

/** What a secret must look like if it fits none of the schemes; null if it fits one. */
export function formFault({ name, value }: Secret, schemes: readonly Scheme[]): string | null {
  const usual = schemes.filter((scheme) => needsOf(scheme) === "secrets");
  if (usual.length === 0 || usual.some((scheme) => fits(scheme, value))) return null;
  const forms = usual.map((scheme) => (scheme.type === "hmac" ? FORMS[scheme.key] : "user:password"));
  return `found ${name}, whose value does not have the form, expected ${[...new Set(forms)].join(" or ")}`;
}

function fits(scheme: Scheme, value: string): boolean {
  if (scheme.type === "hmac") return keysOf(scheme.key, value).length > 0;
  return scheme.type !== "basic" || value.includes(":");
}

const FORMS: Record<HmacScheme["key"], string> = {
  utf8: "text",
  sha1: "text",
  hex: "hex",
  base64: "base64",
  whsec: "base64, or whsec_ and base64",
};
