import { formDecoded } from "../../lib/form-encoded.ts";

const MAX_LENGTH = 16_384;
const MAX_PARAMETERS = 100;
const MAX_VALUE_LENGTH = 4096;

/** Why a parameter has no value that may be used. */
type ParameterFault = "repeated" | "too_long" | "malformed";

/** The parameters of a request, as far as they are known. */
export interface SentParameters {
  /** Whether the text exceeds 16 KiB or 100 parameters. Then none is read. */
  isTooLarge: boolean;
  /** The values, by name. A parameter without a value counts as missing (RFC 6749, 3.1). */
  values: ReadonlyMap<string, string>;
  /** The parameters that are there, but have no value that may be used. */
  faults: ReadonlyMap<string, ParameterFault>;
}

/**
 * Reads the parameters with these names from a query without its `?`, or from an urlencoded body. Others are ignored,
 * even if they are repeated, as `resource` may be (RFC 8707, 2).
 */
export function readParameters(text: string, names: readonly string[]): SentParameters {
  const sent = text.length > MAX_LENGTH ? null : text.split("&", MAX_PARAMETERS + 1);
  if (sent === null || sent.length > MAX_PARAMETERS) return { isTooLarge: true, values: new Map(), faults: new Map() };
  const values = new Map<string, string>();
  const faults = new Map<string, ParameterFault>();
  const seen = new Set<string>();
  for (const parameter of sent) {
    const [field = ""] = parameter.split("=", 1);
    const name = formDecoded(field);
    if (name === null || !names.includes(name)) continue;
    const value = formDecoded(parameter.slice(field.length + 1));
    const fault = seen.has(name) ? "repeated" : faultOf(value);
    seen.add(name);
    if (fault !== null) faults.set(name, fault);
    else if (value !== null && value !== "") values.set(name, value);
  }
  for (const name of faults.keys()) values.delete(name);
  return { isTooLarge: false, values, faults };
}

// PostgreSQL stores no U+0000, and no parameter has a use for another control character.
function faultOf(value: string | null): ParameterFault | null {
  if (value === null || /\p{Cc}/u.test(value)) return "malformed";
  return value.length > MAX_VALUE_LENGTH ? "too_long" : null;
}

const FAULTS: Record<ParameterFault, [found: string, expected: string]> = {
  repeated: ["is there more than once", "expected each parameter once"],
  too_long: ["is too long", "expected at most 4,096 characters"],
  malformed: ["cannot be decoded", "expected urlencoded UTF-8 without control characters"],
};

/** What was found, and what was expected, in texts that echo no value. */
interface FoundFault {
  found: string;
  expected: string;
}

/** The fault of a parameter, or of the first one that has any; null without one. */
export function parameterFault({ isTooLarge, faults }: SentParameters, name?: string): FoundFault | null {
  if (isTooLarge) return { found: "the request is too large", expected: "expected at most 16 KiB and 100 parameters" };
  const [named, fault] = name === undefined ? ([...faults][0] ?? []) : [name, faults.get(name)];
  if (fault === undefined) return null;
  const [found, expected] = FAULTS[fault];
  return { found: `${named} ${found}`, expected };
}
