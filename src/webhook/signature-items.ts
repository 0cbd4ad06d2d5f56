import { isObject, parseStrictJson } from "../lib/strict-json.ts";
import type { SignedScheme } from "./schemes.ts";
import type { HeaderItems } from "./signed-text.ts";

/** Signatures that belong to one timestamp. */
export interface SignatureGroup extends HeaderItems {
  signatures: string[];
}

type Format = Pick<SignedScheme, "format" | "label" | "separator" | "assignment" | "groupSeparator" | "timestamp">;

// Each group costs a digest of the body. A sender that rotates its secret has two.
const MAX_GROUPS = 4;

/** Reads the values of the signature headers of a scheme, or of its place in the body. */
export function readSignatures(scheme: Format, values: readonly string[]): SignatureGroup[] {
  if (scheme.format !== "pairs") {
    const { timestamp } = scheme;
    const items = values.flatMap((value) => itemsIn(scheme, value));
    const position = timestamp && "position" in timestamp ? timestamp.position : -1;
    return [
      {
        signatures: items.filter((_, index) => index !== position),
        timestamp: items[position] ?? "",
        pair: () => undefined,
      },
    ];
  }
  const { groupSeparator } = scheme;
  const groups = values.flatMap((value) => (groupSeparator === undefined ? [value] : value.split(groupSeparator)));
  return groups.slice(0, MAX_GROUPS).map((group) => readPairs(scheme, group));
}

/** The signatures in a value, and with `positional` its timestamp. */
function itemsIn(scheme: Format, value: string): string[] {
  const { format, label = "", separator } = scheme;
  switch (format) {
    case "list":
      // Node joins two headers of the same name with a comma.
      return value
        .split(separator ?? /,? /)
        .filter((item) => item.startsWith(`${label},`))
        .map((item) => item.slice(label.length + 1));
    case "values":
    case "positional":
      return split(withoutLabel(value, label), separator);
    case "json64":
      return memberOf(value, label);
    default:
      return [withoutLabel(value, label)];
  }
}

/** The text of a member of a JSON object in base64. */
function memberOf(value: string, name: string): string[] {
  const parsed = parseStrictJson(Buffer.from(value, "base64"));
  const member = parsed.ok && isObject(parsed.value) ? parsed.value[name] : undefined;
  return typeof member === "string" ? [member] : [];
}

/** Removes a label that precedes a text. */
export function withoutLabel(value: string, label = ""): string {
  return value.startsWith(label) ? value.slice(label.length) : value;
}

/** Removes the name of an authentication scheme that precedes a text, such as `Bearer `, in any case (RFC 9110, 11.1). */
export function withoutScheme(value: string, name = ""): string {
  return value.slice(0, name.length).toLowerCase() === name.toLowerCase() ? value.slice(name.length) : value;
}

function split(value: string, separator: string | RegExp = /[,;]/): string[] {
  return value.split(separator).map((item) => item.trim());
}

function readPairs({ label, separator, assignment = "=", timestamp }: Format, group: string): SignatureGroup {
  const pairs = split(group, separator).flatMap((item): [string, string][] => {
    const at = item.indexOf(assignment);
    return at === -1 ? [] : [[item.slice(0, at), item.slice(at + assignment.length)]];
  });
  const pair = (name: string) => pairs.find(([key]) => key === name)?.[1];
  return {
    signatures: pairs.filter(([key]) => label === undefined || key === label).map(([, value]) => value),
    timestamp: (timestamp && "pair" in timestamp && pair(timestamp.pair)) || "",
    pair,
  };
}
