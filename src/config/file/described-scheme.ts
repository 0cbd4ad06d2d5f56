import type { HmacScheme, Scheme } from "../../webhook/schemes.ts";
import type { PathFault } from "./faults.ts";
import type { SourceEntry } from "./schema.ts";

type Verify = NonNullable<SourceEntry["verify"]>;

/** The keys that each type of scheme has. */
const KEYS: Record<NonNullable<Verify["type"]>, readonly (keyof Verify)[]> = {
  hmac: ["header", "algorithm", "encoding", "prefix", "format", "label", "signed", "timestamp", "tolerance", "key"],
  token: ["header", "prefix"],
  basic: [],
};

/** The scheme that `verify` describes. Faults have paths below `verify`. */
export function describedScheme(verify: Verify): { scheme: Scheme } | { faults: PathFault[] } {
  const { type = "hmac" } = verify;
  const faults = Object.keys(verify)
    .filter((key) => key !== "type" && !(KEYS[type] as readonly string[]).includes(key))
    .map((key): PathFault => ({ path: [key], at: "key", message: `found beside type ${type}, expected nothing` }));
  const { header } = verify;
  if (type === "basic") return faults.length > 0 ? { faults } : { scheme: { type } };
  if (header === undefined) faults.push({ path: [], message: "header is missing, expected the name of a header" });
  if (type === "hmac") faults.push(...hmacFaults(verify));
  if (header === undefined || faults.length > 0) return { faults };
  if (type === "token")
    return { scheme: { type, header, ...(verify.prefix !== undefined && { label: verify.prefix }) } };
  return { scheme: hmacScheme(header, verify) };
}

function hmacFaults({ prefix, format, label, signed = "{body}", timestamp }: Verify): PathFault[] {
  const faults: PathFault[] = [];
  const fault = (path: string[], message: string) => void faults.push({ path, message });
  if (prefix !== undefined && format !== undefined) fault(["prefix"], "found beside format, expected one of them");
  if (format !== undefined && label === undefined)
    fault(["format"], "label is missing, expected the key or version, e.g. v1");
  if (label !== undefined && format === undefined)
    fault(["label"], "found without format, expected format: pairs or list");
  if (timestamp === undefined) {
    if (signed.includes("{timestamp}")) fault(["signed"], "found {timestamp}, expected timestamp to say where it is");
    return faults;
  }
  if (!signed.includes("{timestamp}"))
    fault(["timestamp"], "found a time that is not signed, expected {timestamp} in signed");
  if ((timestamp.header === undefined) === (timestamp.pair === undefined)) {
    fault(["timestamp"], "found both or neither, expected header or pair");
  }
  if (timestamp.pair !== undefined && format !== "pairs") {
    fault(["timestamp", "pair"], "found without format: pairs, expected it or header");
  }
  return faults;
}

function hmacScheme(header: string, verify: Verify): HmacScheme {
  const {
    algorithm = "sha256",
    encoding = "hex",
    format = "bare",
    signed = "{body}",
    timestamp,
    key = "utf8",
  } = verify;
  const label = verify.label ?? verify.prefix;
  const unit = timestamp?.unit ?? "s";
  const place =
    timestamp?.header === undefined ? timestamp?.pair && { pair: timestamp.pair } : { header: timestamp.header };
  return {
    type: "hmac",
    signature: { headers: [header] },
    format,
    ...(label !== undefined && { label }),
    algorithm,
    encodings: [encoding],
    signed,
    ...(place && { timestamp: { ...place, unit } }),
    key,
  };
}
