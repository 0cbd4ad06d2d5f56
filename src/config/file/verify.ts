import * as v from "valibot";
import { defined } from "../../lib/defined.ts";
import {
  type HmacScheme,
  HTTP_NAMES,
  JWT_ALGORITHMS,
  type JwtAlgorithm,
  type PublicKeyScheme,
  type Scheme,
  usesSecret,
} from "../../webhook/signature/schemes.ts";
import { coversBody, unknownPlaceholder } from "../../webhook/signature/signed-text.ts";
import { duration, oneOf } from "../fields.ts";
import { HEADER, key, listOf, TEXT, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { map, mapOf, type Whole } from "./shape.ts";

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

/** Where the signed time is. */
const timestamp = map(
  {
    header: key(header, "The header that has the time."),
    pair: key(TEXT, "The key of the time in the signature header, with `format: pairs`."),
    unit: key(oneOf("s", "ms", "iso"), "Unix seconds, Unix milliseconds or ISO 8601. Default: `s`."),
  },
  undefined,
  {
    read({ header, pair, unit = "s" }, reading) {
      if (header !== undefined && pair === undefined) return { header, unit };
      if (pair !== undefined && header === undefined) return { pair, unit };
      return reading.fault("found both or neither, expected header or pair");
    },
  },
);

const claim = v.union([v.string(), v.number(), v.boolean()]);

const claims = v.pipe(
  mapOf(
    v.string(),
    v.pipe(
      v.union([claim, v.pipe(v.array(claim), v.minLength(1))], "expected a text or a list of texts"),
      v.transform((texts) => [texts].flat().map(String)),
    ),
    "expected a map of claims, such as { email: push@example.iam.gserviceaccount.com }",
  ),
  v.check((claims) => Object.keys(claims).length > 0, "expected at least one claim"),
);

/** Those of tokens, and by their names in RFC 9421. */
const algorithm = v.pipe(
  oneOf(...JWT_ALGORITHMS, ...Object.values(HTTP_NAMES)),
  v.transform((name) => JWT_ALGORITHMS.find((one) => one === name || HTTP_OF[one] === name) ?? "HS256"),
);

const HTTP_OF: Partial<Record<JwtAlgorithm, string>> = HTTP_NAMES;

const VERIFY_KEYS = {
  type: key(
    oneOf("hmac", "ed25519", "ecdsa", "rsa", "jwt", "jws", "httpsig", "token", "basic"),
    "How the sender proves itself. Default: `hmac`. `ed25519`, `ecdsa` and `rsa` need `keys`, and so does `jwt` unless its algorithms begin with `HS`, `jws` unless it has `roots`, and `httpsig` unless its algorithm is `hmac-sha256`.",
  ),
  header: key(header, "The header with the signature or the token."),
  in: key(
    v.pipe(
      textLike(/^form:./, "expected form:NAME"),
      v.transform((place) => place.slice("form:".length)),
    ),
    "`form:NAME`: the signature is in this field of a form, instead of a header.",
  ),
  query: key(TEXT, "`token`: it is this parameter of the query, instead of a header."),
  body: key(
    TEXT,
    "`token`: it is the member of the body at this path, or this field of a form, instead of a header. `jws`: the member that is the signed token; without it, the whole body is.",
  ),
  roots: key(
    listOf(TEXT, "certificate", "expected a list such as [file:root.pem]"),
    "`jws`: the root certificates of the sender in PEM, each at `file:PATH` or `env:NAME`, or as it is. The certificates in the header `x5c` of the token must lead to one of them.",
  ),
  detached: key(
    v.union([v.literal(true), v.literal("unencoded")], "expected true or unencoded"),
    "`jws`: the token is in `header`, without a payload, which is the body. `unencoded`: only tokens that sign it as it is, with `b64: false`.",
  ),
  path: key(v.literal(true, "expected true"), "`token`: it is in the path, behind that of the source and a slash."),
  algorithm: key(
    oneOf("md5", "sha1", "sha256", "sha512"),
    "The hash function. Default: `sha256`. `md5` is for `hmac` only, and weak.",
  ),
  encoding: key(
    oneOf("hex", "base64", "base64url", "base64-hex"),
    "How the signature is written. Default: `hex`; with `keys`, hex or base64. `base64-hex` is the base64 of hex, for `hmac` only.",
  ),
  prefix: key(TEXT, "Text that precedes the signature or the token."),
  format: key(
    oneOf("pairs", "list", "draft"),
    "Several items in the header: `pairs` is `t=1,v1=SIGNATURE`, `list` is `v1,SIGNATURE v1,SIGNATURE`. `draft`: `httpsig` of the draft before RFC 9421.",
  ),
  label: key(TEXT, "The key or version of a signature in `pairs` or `list`, e.g. `v1`."),
  signed: key(
    signed,
    "The signed text, with `{body}` `{timestamp}` `{header:NAME}` `{url}` `{path}` `{method}`, and digests of the body such as `{body-sha256-hex}` and `{body-md5-base64}`. Default: `{body}`.",
  ),
  timestamp: key(timestamp, "Where the signed time is."),
  tolerance: key(TOLERANCE, "Largest difference of the signed time from the clock. Default: `5m`."),
  key: key(oneOf("utf8", "hex", "base64", "whsec"), "How the secret becomes the key. Default: `utf8`, its text."),
  algorithms: key(
    listOf(algorithm, "algorithm", "expected a list such as [HS256]"),
    "`jwt`, `jws`, `httpsig`: accepted algorithms. Default: `[HS256]`, for `jws` `[ES256]`, for `httpsig` `[hmac-sha256]`.",
  ),
  issuer: key(TEXT, "`jwt`: what `iss` must be."),
  audience: key(
    v.pipe(
      TEXT,
      v.transform((text) => (text === "{url}" ? ("url" as const) : { text })),
    ),
    "`jwt`: what `aud` must be or hold; `{url}` is the address of the delivery.",
  ),
  claims: key(
    claims,
    "`jwt`, `jws`: what further claims must be or hold, by name or path, each a text or a list of which one suffices. Of an issuer that signs for everybody, such as Google, `email` or `sub` is needed.",
  ),
  unsignedBody: key(
    v.literal(true, "expected true"),
    "`httpsig`: signatures that do not cover the body are accepted, too.",
  ),
  bodyClaim: key(
    TEXT,
    "`jwt`: the claim with the SHA-256 of the body in hex or base64. Without it, the body is not covered.",
  ),
};

/** How a sender without a preset signs. */
export const VerifySchema = map(VERIFY_KEYS, undefined, { read: readVerify });

/** What `verify` describes. */
interface Described {
  scheme: Scheme;
  toleranceMs: number | undefined;
  /** The root certificates of the sender. */
  roots: readonly string[] | undefined;
}

type Verify = Whole<typeof VERIFY_KEYS>;

function readVerify(verify: Verify, reading: Reading): Described | null {
  const { type = "hmac", tolerance: toleranceMs, roots } = verify;
  const { keys, read } = SCHEMES[type];
  for (const name of Object.keys(verify))
    if (name !== "type" && !(keys as readonly string[]).includes(name))
      reading.at(name).fault(`found beside type ${type}, expected nothing`, "key");
  const scheme = read(verify, reading);
  if (!isBodyCovered(scheme))
    reading
      .at(...(verify.signed === undefined ? [] : ["signed"]))
      .warn("does not cover the body: anybody may send another body with it");
  // Its hash function has known weaknesses, though an HMAC with it is not known to be broken.
  if (verify.algorithm === "md5")
    reading.at("algorithm").warn("md5 is weak: use sha256 if the sender can sign with it");
  if (verify.signed?.includes("{body-md5"))
    reading.at("signed").warn("md5 is weak: who can choose two bodies can make two with one digest");
  return { scheme, toleranceMs, roots };
}

/** Whether a signature covers the body. That a shared secret covers nothing is clear from its type. */
function isBodyCovered(scheme: Scheme): boolean {
  if (scheme.type === "jwt") return scheme.bodyClaim !== undefined;
  if (scheme.type === "httpsig") return scheme.isBodyOptional === undefined;
  return !("signed" in scheme) || coversBody(scheme);
}

/** A type of schemes: the keys that it has, and how they are read. With a fault the scheme is not used. */
interface SchemeType {
  keys: readonly (keyof Verify)[];
  read: (verify: Verify, reading: Reading) => Scheme;
}

const LAYOUT = ["header", "in", "encoding", "prefix", "format", "label", "signed", "timestamp", "tolerance"] as const;

/** Where a token may be. */
const PLACES_OF_TOKENS = ["header", "query", "body", "path"] as const;

const SCHEMES: Record<NonNullable<Verify["type"]>, SchemeType> = {
  hmac: {
    keys: [...LAYOUT, "algorithm", "key"],
    read(verify, reading) {
      const { algorithm = "sha256", encoding = "hex", key = "utf8" } = verify;
      return { ...readLayout(verify, reading), type: "hmac", algorithm, encodings: [encoding], key };
    },
  },
  ed25519: { keys: LAYOUT, read: readPublicKeyScheme },
  ecdsa: { keys: [...LAYOUT, "algorithm"], read: readPublicKeyScheme },
  rsa: { keys: [...LAYOUT, "algorithm"], read: readPublicKeyScheme },
  jwt: {
    keys: ["header", "prefix", "algorithms", "issuer", "audience", "claims", "bodyClaim", "tolerance"],
    read(verify, reading) {
      const { header = "authorization", prefix: label = "Bearer ", algorithms = ["HS256"] } = verify;
      const { issuer, audience, claims, bodyClaim } = verify;
      checkKinds(algorithms, reading);
      return { type: "jwt", header, label, algorithms, ...defined({ issuer, audience, claims, bodyClaim }) };
    },
  },
  jws: {
    keys: ["body", "roots", "algorithms", "claims", "detached", "header", "prefix"],
    read(verify, reading) {
      const { body: json, roots, algorithms = ["ES256"], claims } = verify;
      if (verify.detached) return readDetached(verify, reading);
      for (const name of ["header", "prefix"] as const)
        if (verify[name] !== undefined) reading.at(name).fault("found without detached, expected nothing", "key");
      if (algorithms.some(usesSecret))
        reading.at("algorithms").fault("found one with a secret, expected those with keys, e.g. [ES256]");
      return { type: "jws", algorithms, ...defined({ json, claims }), ...(roots === undefined && { isKeyed: true }) };
    },
  },
  httpsig: {
    keys: ["header", "format", "algorithms", "key", "tolerance", "unsignedBody"],
    read({ header, format, algorithms = ["HS256"], key = "utf8", unsignedBody }, reading) {
      checkKinds(algorithms, reading);
      if (format !== undefined && format !== "draft") reading.at("format").fault(`found "${format}", expected draft`);
      if (header !== undefined && format === undefined)
        reading.at("header").fault("found without format: draft, expected nothing", "key");
      if (algorithms.some((one) => HTTP_OF[one] === undefined))
        reading.at("algorithms").fault(`found another, expected ${Object.values(HTTP_NAMES).join(" or ")}`);
      const draft = format === "draft" ? (header ?? "signature") : undefined;
      return { type: "httpsig", algorithms, key, ...defined({ draft }), ...(unsignedBody && { isBodyOptional: true }) };
    },
  },
  token: {
    keys: ["prefix", ...PLACES_OF_TOKENS],
    read({ prefix: label, ...verify }, reading) {
      const { header, query, body } = verify;
      const places = PLACES_OF_TOKENS.filter((place) => verify[place] !== undefined);
      if (places.length !== 1) {
        const found = places.length === 0 ? "header is missing" : `found ${places.join(" and ")}`;
        reading.fault(`${found}, expected one of ${PLACES_OF_TOKENS.join(", ")}`);
      } else if (label !== undefined && header === undefined) {
        reading.at("prefix").fault("found without header, expected nothing");
      }
      if (header !== undefined) return { type: "token", header, ...defined({ label }) };
      if (query !== undefined) return { type: "token", query };
      return body === undefined ? { type: "token", path: true } : { type: "token", json: body };
    },
  },
  basic: { keys: [], read: () => ({ type: "basic" }) },
};

/** A public key that is taken for a secret would let anybody sign. */
function checkKinds(algorithms: readonly JwtAlgorithm[], reading: Reading): void {
  if (new Set(algorithms.map(usesSecret)).size > 1)
    reading.at("algorithms").fault("found both kinds, expected only those with secrets, or only those with keys");
}

function readDetached(verify: Verify, reading: Reading): Scheme {
  const { header = "", prefix: label, algorithms = ["ES256"], detached } = verify;
  if (header === "") reading.fault("header is missing, expected the name of a header");
  for (const name of ["body", "roots", "claims"] as const)
    if (verify[name] !== undefined) reading.at(name).fault("found beside detached, expected nothing", "key");
  checkKinds(algorithms, reading);
  const isUnencoded = detached === "unencoded" && ({ isUnencoded: true } as const);
  return { type: "detached-jws", header, algorithms, ...defined({ label }), ...isUnencoded };
}

function readPublicKeyScheme(verify: Verify, reading: Reading): PublicKeyScheme {
  const { type, algorithm = "sha256", encoding } = verify;
  if (algorithm === "md5")
    reading.at("algorithm").fault(`found "md5" beside type ${type}, expected sha1, sha256 or sha512`);
  if (encoding === "base64-hex")
    reading.at("encoding").fault(`found "base64-hex" beside type ${type}, expected hex, base64 or base64url`);
  const encodings = encoding && encoding !== "base64-hex" ? [encoding] : (["hex", "base64"] as const);
  return { ...readLayout(verify, reading), type: type as PublicKeyScheme["type"], algorithm, encodings };
}

/** What signatures with secrets and with keys have in common. */
type Layout = Omit<HmacScheme, "type" | "algorithm" | "encodings" | "key"> &
  Omit<PublicKeyScheme, "type" | "algorithm" | "encodings">;

function readLayout(verify: Verify, reading: Reading): Layout {
  const { header, in: form, prefix, format, label, signed = "{body}", timestamp } = verify;
  const fault = (name: string, message: string) => reading.at(name).fault(message);
  if (form === undefined && header === undefined) reading.fault("header is missing, expected the name of a header");
  if (form !== undefined && header !== undefined) fault("in", "found beside header, expected one of them");
  if (prefix !== undefined && format !== undefined) fault("prefix", "found beside format, expected one of them");
  if (format !== undefined && label === undefined)
    fault("format", "label is missing, expected the key or version, e.g. v1");
  if (format === "draft") fault("format", `found "draft", which is for type httpsig, expected pairs or list`);
  if (label !== undefined && format === undefined)
    fault("label", "found without format, expected format: pairs or list");
  checkTime(verify, reading);
  const signature = form === undefined ? { headers: [header ?? ""] } : { form };
  return {
    signature,
    format: format === "draft" ? "bare" : (format ?? "bare"),
    signed,
    ...defined({ label: label ?? prefix, timestamp }),
  };
}

function checkTime({ signed = "{body}", timestamp, format }: Verify, reading: Reading): void {
  const isSigned = signed.includes("{timestamp}");
  if (timestamp === undefined) {
    if (isSigned) reading.at("signed").fault("found {timestamp}, expected timestamp to say where it is");
    return;
  }
  const place = reading.at("timestamp");
  if (!isSigned) place.fault("found a time that is not signed, expected {timestamp} in signed");
  if ("pair" in timestamp && format !== "pairs")
    place.at("pair").fault("found without format: pairs, expected it or header");
}
