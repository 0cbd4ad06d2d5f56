import type { HmacScheme, JwtScheme, PublicKeyScheme, Scheme } from "../../webhook/schemes.ts";
import { usesSecret } from "../../webhook/schemes.ts";
import type { PathFault } from "./faults.ts";
import type { SourceEntry } from "./schema.ts";

type Verify = NonNullable<SourceEntry["verify"]>;
type Type = NonNullable<Verify["type"]>;

const LAYOUT = ["header", "encoding", "prefix", "format", "label", "signed", "timestamp", "tolerance"] as const;

/** The keys that each type of scheme has. */
const KEYS: Record<Type, readonly (keyof Verify)[]> = {
  hmac: [...LAYOUT, "algorithm", "key"],
  ed25519: LAYOUT,
  ecdsa: [...LAYOUT, "algorithm"],
  rsa: [...LAYOUT, "algorithm"],
  jwt: ["header", "prefix", "algorithms", "issuer", "audience", "bodyClaim", "tolerance"],
  token: ["header", "prefix"],
  basic: [],
};

/** The scheme that `verify` describes. Faults have paths below `verify`. */
export function describedScheme(verify: Verify): { scheme: Scheme } | { faults: PathFault[] } {
  const { type = "hmac" } = verify;
  const faults = Object.keys(verify)
    .filter((key) => key !== "type" && !(KEYS[type] as readonly string[]).includes(key))
    .map((key): PathFault => ({ path: [key], at: "key", message: `found beside type ${type}, expected nothing` }));
  const { header = type === "jwt" ? "authorization" : undefined } = verify;
  if (type === "basic") return faults.length > 0 ? { faults } : { scheme: { type } };
  if (header === undefined) faults.push({ path: [], message: "header is missing, expected the name of a header" });
  if (type === "jwt") faults.push(...jwtFaults(verify));
  else if (type !== "token") faults.push(...layoutFaults(verify));
  if (header === undefined || faults.length > 0) return { faults };
  if (type === "token")
    return { scheme: { type, header, ...(verify.prefix !== undefined && { label: verify.prefix }) } };
  if (type === "jwt") return { scheme: jwtScheme(header, verify) };
  const layout = layoutOf(header, verify);
  const { algorithm = "sha256", encoding, key = "utf8" } = verify;
  if (type === "hmac") return { scheme: { ...layout, type, algorithm, encodings: [encoding ?? "hex"], key } };
  return { scheme: { ...layout, type, algorithm, encodings: encoding ? [encoding] : ["hex", "base64"] } };
}

function layoutFaults({ prefix, format, label, signed = "{body}", timestamp }: Verify): PathFault[] {
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

function jwtFaults({ algorithms = [] }: Verify): PathFault[] {
  // A public key that is taken for a secret would let anybody sign.
  if (new Set(algorithms.map(usesSecret)).size < 2) return [];
  return [
    { path: ["algorithms"], message: "found both kinds, expected only those with secrets, or only those with keys" },
  ];
}

/** What signatures with secrets and with keys have in common. */
type Layout = Omit<HmacScheme, "type" | "algorithm" | "encodings" | "key"> &
  Omit<PublicKeyScheme, "type" | "algorithm" | "encodings">;

function layoutOf(header: string, verify: Verify): Layout {
  const { format = "bare", signed = "{body}", timestamp } = verify;
  const label = verify.label ?? verify.prefix;
  const unit = timestamp?.unit ?? "s";
  const place =
    timestamp?.header === undefined ? timestamp?.pair && { pair: timestamp.pair } : { header: timestamp.header };
  return {
    signature: { headers: [header] },
    format,
    ...(label !== undefined && { label }),
    signed,
    ...(place && { timestamp: { ...place, unit } }),
  };
}

function jwtScheme(header: string, verify: Verify): JwtScheme {
  const { algorithms = ["HS256"], prefix, issuer, audience, bodyClaim } = verify;
  return {
    type: "jwt",
    header,
    label: prefix ?? "Bearer ",
    algorithms,
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience: audience === "{url}" ? "url" : { text: audience } }),
    ...(bodyClaim !== undefined && { bodyClaim }),
  };
}
