import { validateHeaderValue } from "node:http";
import * as v from "valibot";
import { isConfidential } from "../../webhook/content/stored-headers.ts";
import { isReserved } from "../../worker/handlers/http-headers.ts";
import { HEADER, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secrets.ts";
import { becomes, mapOf } from "./shape.ts";

const REFERENCE = /\$\{([^}]*)\}/g;

/** The headers of a target. References in their values become the secrets. */
export const HeadersSchema = mapOf(
  textLike(HEADER, "expected the name of a header, e.g. Authorization"),
  v.pipe(v.string("expected text, with quotes around a number"), becomes(readHeaderValue)),
  "expected a map of headers and values",
  checkNames,
);

function checkNames(headers: object, reading: Reading): void {
  const names = new Set<string>();
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if (isReserved(lower))
      reading.at(name).fault("found a header that authserve sets itself, expected another one", "key");
    else if (names.has(lower)) reading.at(name).fault("found a second time in other letters, expected once", "key");
    names.add(lower);
  }
}

/** Returns the value with its secrets. */
function readHeaderValue(text: string, reading: Reading): string | null {
  const name = String(reading.path.at(-1)).toLowerCase();
  const references = [...text.matchAll(REFERENCE)].map(([, reference = ""]) => reference);
  if (references.length === 0 && isConfidential(name) && !isReserved(name)) {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    return reading.fault("found a literal value, expected the secret in it as ${env:NAME} or ${file:PATH}");
  }
  const secrets = new Map(references.map((reference) => [reference, readSecretRef(reference, reading)?.value ?? ""]));
  if (reading.isWrong) return null;
  // A character of a header is a byte for Node. Apps that take other than ASCII, such as ntfy, read UTF-8.
  const value = Buffer.from(text.replace(REFERENCE, (_, name: string) => secrets.get(name) ?? "")).toString("latin1");
  return isHeaderValue(name, value)
    ? value
    : reading.fault("found a value that no header can have, expected text without line ends");
}

function isHeaderValue(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
