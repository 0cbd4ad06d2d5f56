import * as v from "valibot";
import type {
  HmacScheme,
  JwsScheme,
  JwtScheme,
  PublicKeyScheme,
  Scheme,
  TokenScheme,
} from "../../webhook/signature/schemes.ts";
import { usesSecret } from "../../webhook/signature/schemes.ts";
import { unknownPlaceholder } from "../../webhook/signature/signed-text.ts";
import { duration, oneOf } from "../fields.ts";
import { HEADER, key, listOf, TEXT, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";

const header = v.pipe(textLike(HEADER, "expected the name of a header"), v.toLowerCase());

/** How far a signed time may be from the clock. */
export const TOLERANCE = duration(1000, "5m");

const signed = v.pipe(
  TEXT,
  v.check(
    (value) => unknownPlaceholder({ signed: value }) === undefined,
    "expected text with {body} {timestamp} {header:NAME} {url} {path} {method} or another known placeholder",
  ),
  // Node has the names of received headers in lower case.
  v.transform((value) => value.replace(/\{header:[^{}]+\}/g, (placeholder) => placeholder.toLowerCase())),
);

const timestamp = v.strictObject({
  header: key(header, "The header that has the time."),
  pair: key(TEXT, "The key of the time in the signature header, with `format: pairs`."),
  unit: key(oneOf("s", "ms", "iso"), "Unix seconds, Unix milliseconds or ISO 8601. Default: `s`."),
});

const claim = v.union([v.string(), v.number(), v.boolean()]);

const claims = v.record(
  v.string(),
  v.union([claim, v.pipe(v.array(claim), v.minLength(1))], "expected a text or a list of texts"),
  "expected a map of claims, such as { email: push@example.iam.gserviceaccount.com }",
);

/** `verify` as it is written in the file. */
export const VerifySchema = v.strictObject({
  type: key(
    oneOf("hmac", "ed25519", "ecdsa", "rsa", "jwt", "jws", "token", "basic"),
    "How the sender proves itself. Default: `hmac`. `ed25519`, `ecdsa` and `rsa` need `keys`, and so does `jwt` unless its algorithms begin with `HS`. `jws` needs `roots`.",
  ),
  header: key(header, "The header with the signature or the token."),
  in: key(
    textLike(/^form:./, "expected form:NAME"),
    "`form:NAME`: the signature is in this field of a form, instead of a header.",
  ),
  query: key(TEXT, "`token`: it is this parameter of the query, instead of a header."),
  body: key(
    TEXT,
    "`token`: it is the member of the body at this path, or this field of a form, instead of a header. `jws`: the member that is the signed token.",
  ),
  roots: key(
    listOf(TEXT, "certificate", "expected a list such as [file:root.pem]"),
    "`jws`: the root certificates of the sender in PEM, each at `file:PATH` or `env:NAME`, or as it is. The certificates in the header `x5c` of the token must lead to one of them.",
  ),
  path: key(v.literal(true, "expected true"), "`token`: it is in the path, behind that of the source and a slash."),
  algorithm: key(
    oneOf("md5", "sha1", "sha256", "sha512"),
    "The hash function. Default: `sha256`. `md5` is for `hmac` only, and weak.",
  ),
  encoding: key(
    oneOf("hex", "base64", "base64url"),
    "How the signature is written. Default: `hex`; with `keys`, hex or base64.",
  ),
  prefix: key(TEXT, "Text that precedes the signature or the token."),
  format: key(
    oneOf("pairs", "list"),
    "Several items in the header: `pairs` is `t=1,v1=SIGNATURE`, `list` is `v1,SIGNATURE v1,SIGNATURE`.",
  ),
  label: key(TEXT, "The key or version of a signature in `pairs` or `list`, e.g. `v1`."),
  signed: key(
    signed,
    "The signed text, with `{body}` `{timestamp}` `{header:NAME}` `{url}` `{path}` `{method}`. Default: `{body}`.",
  ),
  timestamp: key(timestamp, "Where the signed time is."),
  tolerance: key(TOLERANCE, "Largest difference of the signed time from the clock. Default: `5m`."),
  key: key(oneOf("utf8", "hex", "base64", "whsec"), "How the secret becomes the key. Default: `utf8`, its text."),
  algorithms: key(
    listOf(
      oneOf("HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "EdDSA"),
      "algorithm",
      "expected a list such as [HS256]",
    ),
    "`jwt`, `jws`: accepted algorithms. Default: `[HS256]`, for `jws` `[ES256]`.",
  ),
  issuer: key(TEXT, "`jwt`: what `iss` must be."),
  audience: key(TEXT, "`jwt`: what `aud` must be or hold; `{url}` is the address of the delivery."),
  claims: key(
    claims,
    "`jwt`, `jws`: what further claims must be or hold, by name or path, each a text or a list of which one suffices. Of an issuer that signs for everybody, such as Google, `email` or `sub` is needed.",
  ),
  bodyClaim: key(TEXT, "`jwt`: the claim with the SHA-256 of the body in hex. Without it, the body is not covered."),
});

type Verify = v.InferOutput<typeof VerifySchema>;
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

/** Reads the scheme that `verify` describes. Null if it has a fault. */
export function readVerify(verify: Verify, reading: Reading): Scheme | null {
  const { type = "hmac" } = verify;
  const before = reading.faults.length;
  for (const name of Object.keys(verify))
    if (name !== "type" && !(KEYS[type] as readonly string[]).includes(name))
      reading.at(name).fault(`found beside type ${type}, expected nothing`, "key");
  if (verify.claims !== undefined && Object.keys(verify.claims).length === 0)
    reading.at("claims").fault("found a map, expected at least one claim");
  CHECKS[type](verify, reading);
  return reading.faults.length > before ? null : schemeOf(type, verify);
}

type Check = (verify: Verify, reading: Reading) => void;

const CHECKS: Record<Type, Check> = {
  hmac: checkLayout,
  ed25519: checkPublicKey,
  ecdsa: checkPublicKey,
  rsa: checkPublicKey,
  jwt: checkJwt,
  jws: checkJws,
  token: checkToken,
  basic: () => {},
};

function checkPublicKey(verify: Verify, reading: Reading): void {
  if (verify.algorithm === "md5")
    reading.at("algorithm").fault(`found "md5" beside type ${verify.type}, expected sha1, sha256 or sha512`);
  checkLayout(verify, reading);
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

function checkToken({ prefix, ...verify }: Verify, reading: Reading): void {
  const places = PLACES_OF_TOKENS.filter((place) => verify[place] !== undefined);
  if (places.length !== 1) {
    const found = places.length === 0 ? "header is missing" : `found ${places.join(" and ")}`;
    reading.fault(`${found}, expected one of ${PLACES_OF_TOKENS.join(", ")}`);
  } else if (prefix !== undefined && verify.header === undefined) {
    reading.at("prefix").fault("found without header, expected nothing");
  }
}

function tokenScheme({ header, prefix, query, body }: Verify): TokenScheme {
  if (header !== undefined) return { type: "token", header, ...(prefix !== undefined && { label: prefix }) };
  if (query !== undefined) return { type: "token", query };
  return body === undefined ? { type: "token", path: true } : { type: "token", json: body };
}

function checkLayout({ header, prefix, format, label, ...verify }: Verify, reading: Reading): void {
  const fault = (name: string, message: string) => reading.at(name).fault(message);
  if (verify.in === undefined && header === undefined)
    reading.fault("header is missing, expected the name of a header");
  if (verify.in !== undefined && header !== undefined) fault("in", "found beside header, expected one of them");
  if (prefix !== undefined && format !== undefined) fault("prefix", "found beside format, expected one of them");
  if (format !== undefined && label === undefined)
    fault("format", "label is missing, expected the key or version, e.g. v1");
  if (label !== undefined && format === undefined)
    fault("label", "found without format, expected format: pairs or list");
  checkTime(verify, format, reading);
}

function checkTime({ signed = "{body}", timestamp }: Verify, format: Verify["format"], reading: Reading): void {
  const isSigned = signed.includes("{timestamp}");
  if (timestamp === undefined) {
    if (isSigned) reading.at("signed").fault("found {timestamp}, expected timestamp to say where it is");
    return;
  }
  const place = reading.at("timestamp");
  if (!isSigned) place.fault("found a time that is not signed, expected {timestamp} in signed");
  if ((timestamp.header === undefined) === (timestamp.pair === undefined))
    place.fault("found both or neither, expected header or pair");
  if (timestamp.pair !== undefined && format !== "pairs")
    place.at("pair").fault("found without format: pairs, expected it or header");
}

function checkJwt({ algorithms = [] }: Verify, reading: Reading): void {
  // A public key that is taken for a secret would let anybody sign.
  if (new Set(algorithms.map(usesSecret)).size > 1)
    reading.at("algorithms").fault("found both kinds, expected only those with secrets, or only those with keys");
}

function checkJws({ body, roots, algorithms = [] }: Verify, reading: Reading): void {
  if (body === undefined) reading.fault("body is missing, expected the member with the token");
  if (roots === undefined)
    reading.fault("roots is missing, expected the sender's root certificates, e.g. [file:root.pem]");
  if (algorithms.some(usesSecret))
    reading.at("algorithms").fault("found one with a secret, expected those with keys, e.g. [ES256]");
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
