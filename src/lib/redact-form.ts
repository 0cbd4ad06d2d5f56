import { unescape as unescapePercent } from "node:querystring";
import { formEncoded, hasTooManyFields } from "./form-encoded.ts";
import { JSON_FIELDS, looksLikeJson } from "./form-json.ts";
import {
  isJsonText,
  REDACTED,
  type RedactedPaths,
  type RedactedPlace,
  type RedactedText,
  redactJsonAt,
  rootOf,
  textsIn,
} from "./redact-json.ts";

/**
 * Replaces fields of an urlencoded form, and members of the JSON in its fields. A field is the member of its name;
 * brackets in it are members too, as in `customer[email]`. JSON in a field that senders use for a whole payload is read
 * as the payload, and all JSON below the name of its field. Everything else stays as it is. Returns null if something
 * looks like JSON and is not, or there are too many fields.
 */
export function redactForm(text: string, paths: RedactedPaths): RedactedText | null {
  if (hasTooManyFields(text)) return null;
  const root = rootOf(paths);
  const removed: string[] = [];
  const fields = text.split("&").map((field) => redactField(field, root, removed));
  return fields.every((field) => field !== null) ? { text: fields.join("&"), removed } : null;
}

function redactField(field: string, root: RedactedPlace, removed: string[]): string | null {
  if (field === "") return field;
  const equals = field.indexOf("=");
  const rawName = equals === -1 ? field : field.slice(0, equals);
  const value = equals === -1 ? "" : decoded(field.slice(equals + 1));
  const name = decoded(rawName);
  // What reads it may take it for a whole form of JSON.
  if (looksLikeJson(name)) return null;
  const place = placeOf(root, name);
  if (place.isRedacted) {
    removed.push(value);
    if (isJsonText(value)) textsIn(value, removed);
    return `${rawName}=${formEncoded(REDACTED)}`;
  }
  if (!looksLikeJson(value)) return field;
  let json = value;
  for (const within of JSON_FIELDS.some((one) => one === name) ? [root, place] : [place]) {
    if (!within.isOnPath) continue;
    const found = redactJsonAt(json, within);
    if (found === null) return null;
    for (const one of found.removed) removed.push(one);
    json = found.text;
  }
  return json === value ? field : `${rawName}=${formEncoded(json)}`;
}

/** The place of a field. The first redacted one on the way to it is also its own. */
function placeOf(root: RedactedPlace, name: string): RedactedPlace {
  const whole = root.member(name);
  if (whole.isRedacted || !name.includes("[")) return whole;
  const [first = "", ...inner] = name.split("[").map((part) => part.replace(/\]$/, ""));
  let place = root.member(first);
  for (const part of inner) {
    if (place.isRedacted) return place;
    place = /^[0-9]*$/.test(part) ? place.item(part) : place.member(part);
  }
  return place;
}

const decoded = (text: string) => unescapePercent(text.replaceAll("+", " "));
