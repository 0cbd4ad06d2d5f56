import { trimSpace } from "../../lib/header-value.ts";
import type { SignedScheme } from "./schemes.ts";
import type { HeaderItems, SignatureGroup } from "./signed-text.ts";

type Format = Pick<SignedScheme, "format" | "label" | "separator" | "assignment" | "timestamp">;

// Each group costs a digest of the body. A sender that rotates its secret has two.
const MAX_GROUPS = 4;

/** Reads the values of the signature headers of a scheme, or of its place in the body. */
export function readSignatures(scheme: Format, values: readonly string[]): SignatureGroup[] {
  const { format } = scheme;
  if (format === "pairs") return values.slice(0, MAX_GROUPS).map((value) => readPairs(scheme, value));
  if (typeof format === "string") {
    return [{ ...NO_ITEMS, signatures: values.flatMap((value) => signaturesIn(scheme, value)) }];
  }
  const groups = values.flatMap((value) => format.read(value));
  return groups.slice(0, MAX_GROUPS).map((group) => ({ ...NO_ITEMS, ...group }));
}

const NO_ITEMS: HeaderItems = { timestamp: "", pair: () => undefined };

/** The signatures in a value. */
function signaturesIn({ format, label = "", separator }: Format, value: string): string[] {
  switch (format) {
    case "list":
      // Node joins two headers of the same name with a comma.
      return value
        .split(separator ?? /,? /)
        .filter((item) => item.startsWith(`${label},`))
        .map((item) => item.slice(label.length + 1));
    case "values":
      return split(withoutLabel(value, label), separator);
    default:
      // HaloPSA sends a blank behind `sha256=`, https://github.com/jackmusick/bifrost/issues/726.
      return [trimSpace(withoutLabel(value, label))];
  }
}

/** Removes a label that precedes a text. */
function withoutLabel(value: string, label = ""): string {
  return value.startsWith(label) ? value.slice(label.length) : value;
}

/**
 * Removes the name of an authentication scheme that precedes a text, such as `Bearer `, in any case (RFC 9110, 11.1).
 */
export function withoutScheme(value: string, name = ""): string {
  return value.slice(0, name.length).toLowerCase() === name.toLowerCase() ? value.slice(name.length) : value;
}

function split(value: string, separator: string | RegExp = /[,;]/): string[] {
  return value.split(separator).map(trimSpace);
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
