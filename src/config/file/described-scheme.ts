import type {
  HmacScheme,
  JwsScheme,
  JwtScheme,
  PublicKeyScheme,
  Scheme,
  TokenScheme,
} from "../../webhook/signature/schemes.ts";
import { usesSecret } from "../../webhook/signature/schemes.ts";
import type { PathFault } from "./faults.ts";
import type { SourceEntry } from "./schema.ts";

type Verify = NonNullable<SourceEntry["verify"]>;
type Type = NonNullable<Verify["type"]>;

const LAYOUT = ["header", "in", "encoding", "prefix", "format", "label", "signed", "timestamp", "tolerance"] as const;

/** Where a token may be. */
const PLACES_OF_TOKENS = ["header", "query", "body", "path"] as const;

/** The keys that each type of scheme has. */
const KEYS: Record<Type, readonly (keyof Verify)[]> = {
  hmac: [...LAYOUT, "algorithm", "key"],
  ed25519: LAYOUT,
  ecdsa: [...LAYOUT, "algorithm"],
  rsa: [...LAYOUT, "algorithm"],
  jwt: ["header", "prefix", "algorithms", "issuer", "audience", "claims", "bodyClaim", "tolerance"],
  jws: ["body", "roots", "algorithms", "claims"],
  token: ["prefix", ...PLACES_OF_TOKENS],
  basic: [],
};

/** The scheme that `verify` describes. Faults have paths below `verify`. */
export function describedScheme(verify: Verify): { scheme: Scheme } | { faults: PathFault[] } {
  const { type = "hmac" } = verify;
  const unknown = Object.keys(verify)
    .filter((key) => key !== "type" && !(KEYS[type] as readonly string[]).includes(key))
    .map((key): PathFault => ({ path: [key], at: "key", message: `found beside type ${type}, expected nothing` }));
  const faults = [...unknown, ...faultsOf(type, verify)];
  return faults.length > 0 ? { faults } : { scheme: schemeOf(type, verify) };
}

function faultsOf(type: Type, verify: Verify): PathFault[] {
  switch (type) {
    case "basic":
      return [];
    case "token":
      return tokenFaults(verify);
    case "jwt":
      return jwtFaults(verify);
    case "jws":
      return jwsFaults(verify);
    default:
      return [...placeFaults(verify), ...algorithmFaults(type, verify), ...layoutFaults(verify)];
  }
}

/** The scheme of a description without faults. */
function schemeOf(type: Type, verify: Verify): Scheme {
  switch (type) {
    case "basic":
      return { type };
    case "token":
      return tokenScheme(verify);
    case "jwt":
      return jwtScheme(verify);
    case "jws":
      return jwsScheme(verify);
    default: {
      const layout = layoutOf(verify);
      const { algorithm = "sha256", encoding, key = "utf8" } = verify;
      if (type === "hmac") return { ...layout, type, algorithm, encodings: [encoding ?? "hex"], key };
      return { ...layout, type, algorithm, encodings: encoding ? [encoding] : ["hex", "base64"] };
    }
  }
}

function tokenFaults({ prefix, ...verify }: Verify): PathFault[] {
  const places = PLACES_OF_TOKENS.filter((place) => verify[place] !== undefined);
  if (places.length !== 1) {
    const found = places.length === 0 ? "header is missing" : `found ${places.join(" and ")}`;
    return [{ path: [], message: `${found}, expected one of ${PLACES_OF_TOKENS.join(", ")}` }];
  }
  if (prefix === undefined || verify.header !== undefined) return [];
  return [{ path: ["prefix"], message: "found without header, expected nothing" }];
}

function tokenScheme({ header, prefix, query, body }: Verify): TokenScheme {
  if (header !== undefined) return { type: "token", header, ...(prefix !== undefined && { label: prefix }) };
  if (query !== undefined) return { type: "token", query };
  return body === undefined ? { type: "token", path: true } : { type: "token", json: body };
}

function placeFaults(verify: Verify): PathFault[] {
  if (verify.in !== undefined && verify.header !== undefined)
    return [{ path: ["in"], message: "found beside header, expected one of them" }];
  if (verify.in !== undefined || verify.header !== undefined) return [];
  return [{ path: [], message: "header is missing, expected the name of a header" }];
}

function algorithmFaults(type: Type, { algorithm }: Verify): PathFault[] {
  if (type === "hmac" || algorithm !== "md5") return [];
  return [{ path: ["algorithm"], message: `found "md5" beside type ${type}, expected sha1, sha256 or sha512` }];
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

function jwsFaults({ body, roots, algorithms = [] }: Verify): PathFault[] {
  const faults: PathFault[] = [];
  if (body === undefined) faults.push({ path: [], message: "body is missing, expected the member with the token" });
  if (roots === undefined)
    faults.push({
      path: [],
      message: "roots is missing, expected the sender's root certificates, e.g. [file:root.pem]",
    });
  if (algorithms.some(usesSecret))
    faults.push({ path: ["algorithms"], message: "found one with a secret, expected those with keys, e.g. [ES256]" });
  return faults;
}

function jwsScheme({ body = "", algorithms = ["ES256"], claims }: Verify): JwsScheme {
  return { type: "jws", json: body, algorithms, ...(claims !== undefined && { claims: textsOf(claims) }) };
}

const IN_FORM = "form:";

/** What signatures with secrets and with keys have in common. */
type Layout = Omit<HmacScheme, "type" | "algorithm" | "encodings" | "key"> &
  Omit<PublicKeyScheme, "type" | "algorithm" | "encodings">;

function layoutOf(verify: Verify): Layout {
  const { format = "bare", signed = "{body}", timestamp } = verify;
  const label = verify.label ?? verify.prefix;
  const unit = timestamp?.unit ?? "s";
  const place =
    timestamp?.header === undefined ? timestamp?.pair && { pair: timestamp.pair } : { header: timestamp.header };
  return {
    signature: verify.in === undefined ? { headers: [verify.header ?? ""] } : { form: verify.in.slice(IN_FORM.length) },
    format,
    ...(label !== undefined && { label }),
    signed,
    ...(place && { timestamp: { ...place, unit } }),
  };
}

function jwtScheme(verify: Verify): JwtScheme {
  const { header = "authorization", algorithms = ["HS256"], prefix, issuer, audience, claims, bodyClaim } = verify;
  return {
    type: "jwt",
    header,
    label: prefix ?? "Bearer ",
    algorithms,
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience: audience === "{url}" ? "url" : { text: audience } }),
    ...(claims !== undefined && { claims: textsOf(claims) }),
    ...(bodyClaim !== undefined && { bodyClaim }),
  };
}

const textsOf = (claims: NonNullable<Verify["claims"]>) =>
  Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, [value].flat().map(String)]));
