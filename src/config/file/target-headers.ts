import { validateHeaderValue } from "node:http";
import { isConfidential } from "../../webhook/intake/delivered-event.ts";
import { isReserved } from "../../worker/handlers/http-headers.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secrets.ts";

const REFERENCE = /\$\{([^}]*)\}/g;

/** Reads the headers of a target. References in their values become the secrets. */
export function readTargetHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  reading: Reading,
): Record<string, string> {
  const read: Record<string, string> = {};
  const names = new Set<string>();
  for (const [name, text] of Object.entries(headers)) {
    const place = reading.at(name);
    const lower = name.toLowerCase();
    if (isReserved(lower)) {
      place.fault("found a header that authserve sets itself, expected another one", "key");
      continue;
    }
    if (names.has(lower)) place.fault("found a second time in other letters, expected once", "key");
    names.add(lower);
    if (text !== undefined) read[name] = readHeaderValue(lower, text, place);
  }
  return read;
}

/** Returns the value with its secrets, which is wrong if it has a fault. */
function readHeaderValue(name: string, text: string, reading: Reading): string {
  const references = [...text.matchAll(REFERENCE)].map(([, reference = ""]) => reference);
  if (references.length === 0 && isConfidential(name)) {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    reading.fault("found a literal value, expected the secret in it as ${env:NAME} or ${file:PATH}");
  }
  const secrets = new Map(references.map((reference) => [reference, readSecretRef(reference, reading)?.value ?? ""]));
  // A character of a header is a byte for Node. Apps that take other than ASCII, such as ntfy, read UTF-8.
  const value = Buffer.from(text.replace(REFERENCE, (_, name: string) => secrets.get(name) ?? "")).toString("latin1");
  if (!reading.isWrong && !isHeaderValue(name, value))
    reading.fault("found a value that no header can have, expected text without line ends");
  return value;
}

function isHeaderValue(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
