import {
  createPrivateKey,
  hash,
  createHmac as hmacOf,
  type JsonWebKeyInput,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
  X509Certificate,
} from "node:crypto";
import { JSON_FIELDS } from "../../lib/form-json.ts";
import { isObject } from "../../lib/json.ts";
import { valueAt } from "../../lib/json-path.ts";
import { boundaryIn, formatMultipart } from "../../lib/multipart.ts";
import { queryOf } from "../../lib/request-target.ts";
import { type Content, isSha256Of, MULTIPART, openContent } from "../content/content.ts";
import { textOf } from "./detached-jws.ts";
import { base64OfHex, createHmac, createPrefixHash } from "./hmac.ts";
import { draftBase, signatureBase } from "./http-signature.ts";
import { listOf } from "./http-signature-fields.ts";
import { formOf } from "./jwt.ts";
import {
  type DetachedJwsScheme,
  type DigestEncoding,
  digestOf,
  HTTP_NAMES,
  type HttpSignatureScheme,
  type JwsScheme,
  type JwtAlgorithm,
  type JwtScheme,
  type RequestLine,
  requiredClaims,
  type Scheme,
  type SignedScheme,
  type TokenScheme,
  usesSecret,
} from "./schemes.ts";
import { keysOf } from "./secret.ts";
import { writtenWith } from "./shared-secret.ts";
import { type HeaderItems, type Options, ownPartsOf, parseSignedText, readSignedText } from "./signed-text.ts";
import { formatTimestamp } from "./timestamp.ts";

/** A delivery before it is signed. */
export interface UnsignedDelivery {
  method: string;
  /** As the receiver sees them: scheme and host, then path and query. */
  origin: string;
  target: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** With the boundary of a body with several parts. */
  mediaType: string;
  body: Buffer;
}

/** What a sender adds or changes by signing. */
interface SignedDelivery {
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Signs a delivery as its sender does, with the time `now` in Unix milliseconds. The secret is a private key in PEM if
 * the sender has a key pair. Adds the signed headers that are missing. Throws an error if the secret does not have the
 * form of the scheme, or the delivery lacks something else that is signed.
 */
export function signDelivery(
  scheme: Scheme,
  secret: string,
  delivery: UnsignedDelivery,
  now: number,
  options: Options = {},
): SignedDelivery {
  const { headers, body } = delivery;
  switch (scheme.type) {
    case "token":
      return withSecret(scheme, secret, delivery);
    case "basic":
      return { headers: { ...headers, authorization: writtenWith(scheme, secret) }, body };
    case "jwt":
      return { headers: { ...headers, [scheme.header]: signJwt(scheme, secret, delivery, now, options) }, body };
    case "jws":
      return { headers: { ...headers }, body: withToken(scheme, secret, delivery, options) };
    case "detached-jws":
      return { headers: { ...headers, [scheme.header]: signDetached(scheme, secret, delivery) }, body };
    case "httpsig":
      return { headers: signParts(scheme, secret, delivery, now), body };
    default:
      return signText(scheme, secret, delivery, now, options);
  }
}

/** The address that a sender delivers to: with the secret, if that is its place. */
export function addressWithSecret(scheme: Scheme, secret: string, url: string): string {
  if (scheme.type !== "token") return url;
  const [path = "", query] = url.split("?");
  if ("query" in scheme) {
    if (queryOf(url).get(scheme.query) === secret) return url;
    const others = new URLSearchParams(query);
    others.set(scheme.query, secret);
    return `${path}?${others}`;
  }
  const last = `/${encodeURIComponent(secret)}`;
  if (!("path" in scheme) || path.endsWith(last)) return url;
  return `${path.replace(/\/$/, "")}${last}${query === undefined ? "" : `?${query}`}`;
}

function withSecret(
  scheme: TokenScheme,
  secret: string,
  { headers, body, mediaType, origin, target }: UnsignedDelivery,
) {
  if ("header" in scheme) return { headers: { ...headers, [scheme.header]: writtenWith(scheme, secret) }, body };
  if ("query" in scheme || "path" in scheme) {
    const isThere = addressWithSecret(scheme, secret, origin + target) === origin + target;
    if (isThere) return { headers: { ...headers }, body };
    throw new Error(`the address lacks ${"path" in scheme ? "the secret" : `?${scheme.query}= and the secret`}`);
  }
  const content = openContent(body, mediaType);
  return { headers: { ...headers }, body: withValue(content, mediaType, scheme, () => secret) };
}

function signText(
  scheme: SignedScheme,
  secret: string,
  delivery: UnsignedDelivery,
  now: number,
  options: Options,
): SignedDelivery {
  const signBytes = signerOf(scheme, secret);
  const { timestamp: place, bodyHash, signature } = scheme;
  const content = openContent(delivery.body, delivery.mediaType);
  if (bodyHash && !isSha256Of(content, queryOf(delivery.target).get(bodyHash.query))) {
    throw new Error(`the address lacks ?${bodyHash.query}= and the SHA-256 of the body in hex`);
  }
  const timestamp = place && "json" in place ? String(content.member(place.json)) : timeText(place, now);
  const headers = { ...delivery.headers };
  if (place && "header" in place) headers[place.header] = timestamp;
  const additions = ownPartsOf(scheme).flatMap((part) => part.adds?.(headers) ?? []);
  Object.assign(headers, ...additions.map((added) => added.headers));
  const pairs: Record<string, string> = Object.assign({}, ...additions.map((added) => added.items));
  const items: HeaderItems = { timestamp, pair: (name) => pairs[name] };
  const signed = parseSignedText(scheme, options);
  for (const name of signed.covered.headers) headers[name] ??= `msg_${randomBytes(12).toString("hex")}`;

  function signatureOf(content: Content): string {
    const request = { ...delivery, headers, content };
    const pieces = readSignedText(signed, request, items);
    if (pieces === null) throw new Error(`the delivery lacks a part of ${scheme.signed}`);
    const text = encoded(signBytes(pieces), scheme.encodings[0]);
    return headerValue(scheme, text, items, pairs);
  }

  if (!("headers" in signature))
    return { headers, body: withValue(content, delivery.mediaType, signature, signatureOf) };
  headers[signature.headers[0] as string] = signatureOf(content);
  return { headers, body: delivery.body };
}

function encoded(signature: Buffer, encoding: DigestEncoding = "hex"): string {
  return encoding === "base64-hex" ? base64OfHex(signature.toString("hex")) : signature.toString(encoding);
}

function timeText(place: SignedScheme["timestamp"], now: number): string {
  return place ? formatTimestamp(now, place.unit ?? "s") : "";
}

/** Returns a function that signs a text, given in pieces. */
function signerOf(scheme: SignedScheme, secret: string): (pieces: readonly Uint8Array[]) => Buffer {
  if (scheme.type === "hmac") {
    const [key] = keysOf(scheme.key, secret);
    if (!key) throw new Error(`the secret is not ${scheme.key}`);
    const digestOf = (scheme.isPrefixHash ? createPrefixHash : createHmac)(scheme.algorithm, key);
    return (pieces) => Buffer.from(digestOf(...pieces), "hex");
  }
  const key = privateKeyOf(secret);
  const algorithm = scheme.type === "ed25519" ? null : scheme.algorithm;
  return (pieces) => sign(algorithm, Buffer.concat(pieces), key);
}

function privateKeyOf(secret: string): KeyObject {
  try {
    const jwk = jwkIn(secret);
    return jwk === null ? createPrivateKey(secret) : createPrivateKey({ key: jwk, format: "jwk" });
  } catch {
    throw new Error("the secret is no private key in PEM or as a JWK");
  }
}

/** The JWK that a text is; null if it is none. */
function jwkIn(text: string): (JsonWebKeyInput["key"] & { kid?: string }) | null {
  return text.trimStart().startsWith("{") ? JSON.parse(text) : null;
}

/** The body with a token instead of the claims that it has there, or that it is. */
function withToken(scheme: JwsScheme, secret: string, { body, mediaType }: UnsignedDelivery, options: Options): Buffer {
  const { json, algorithms } = scheme;
  const required = Object.entries(requiredClaims(scheme, options)).map(([name, [text]]) => [name, text]);
  const header = scheme.isKeyed ? { kid: jwkIn(secret)?.kid } : { x5c: certificatesIn(secret) };
  const tokenOf = (claims: unknown) => {
    if (!isObject(claims)) throw new Error(`the body lacks the object ${json ?? "of claims"}`);
    return signClaims(algorithms, header, { ...Object.fromEntries(required), ...claims }, secret);
  };
  if (json === undefined) return Buffer.from(tokenOf(JSON.parse(body.toString())));
  return withValue(openContent(body, mediaType), mediaType, { json }, ({ member }) => tokenOf(member(json)));
}

/** The certificates beside a private key in PEM, as a token has them. */
function certificatesIn(secret: string): string[] {
  const certificates = secret.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!certificates) throw new Error("the secret lacks the certificates of the private key, in PEM");
  return certificates.map((pem) => new X509Certificate(pem).raw.toString("base64"));
}

function signJwt(scheme: JwtScheme, secret: string, delivery: UnsignedDelivery, now: number, options: Options): string {
  const { algorithms, label = "" } = scheme;
  const kid = algorithms.some(usesSecret) ? undefined : jwkIn(secret)?.kid;
  return label + signClaims(algorithms, { typ: "JWT", kid }, claimsFor(scheme, delivery, now, options), secret);
}

function signClaims(algorithms: readonly JwtAlgorithm[], header: object, claims: object, secret: string): string {
  const alg = firstOf(algorithms);
  const signed = `${tokenPart({ alg, ...header })}.${tokenPart(claims)}`;
  return `${signed}.${signToken(alg, Buffer.from(signed), secret)}`;
}

/** A token that signs the body of a delivery, and is sent without it. */
function signDetached(scheme: DetachedJwsScheme, secret: string, delivery: UnsignedDelivery): string {
  const { algorithms, label = "", payload: own } = scheme;
  const alg = firstOf(algorithms);
  const kid = usesSecret(alg) ? undefined : jwkIn(secret)?.kid;
  const header = { alg, kid, ...(scheme.isUnencoded && { b64: false, crit: ["b64"] }), ...own?.header };
  const request = { ...delivery, content: openContent(delivery.body, delivery.mediaType) };
  const payload = own ? own.of(request, header) : delivery.body;
  if (payload === null) throw new Error("the delivery lacks a part that is signed");
  const signedHeader = tokenPart(header);
  const signed = textOf(signedHeader, payload, scheme.isUnencoded === true);
  return `${label}${signedHeader}..${signToken(alg, signed, secret)}`;
}

/** The headers with a signature of the method, the address and the body. */
function signParts(
  { algorithms, key, draft }: HttpSignatureScheme,
  secret: string,
  delivery: UnsignedDelivery,
  now: number,
): Record<string, string> {
  const algorithm = firstOf(algorithms);
  const hash256 = hash("sha256", delivery.body, "base64");
  const content = openContent(delivery.body, delivery.mediaType);
  const signed = (text: Buffer | null) => {
    const [value] = usesSecret(algorithm) ? keysOf(key, secret) : [secret];
    if (text === null || value === undefined) throw new Error(`the secret is not ${key}`);
    return Buffer.from(signToken(algorithm, text, value), "base64url").toString("base64");
  };
  const name = HTTP_NAMES[algorithm as keyof typeof HTTP_NAMES];
  if (draft !== undefined) {
    const headers: Record<string, string> = {
      ...delivery.headers,
      date: formatTimestamp(now, "http"),
      digest: `SHA-256=${hash256}`,
    };
    const components = ["(request-target)", "date", "digest"];
    const text = signed(draftBase({ components, parameters: {} }, { ...delivery, headers, content }));
    const list = components.join(" ");
    headers[draft] = `keyId="sample",algorithm="${DRAFT_NAMES[name] ?? name}",headers="${list}",signature="${text}"`;
    return headers;
  }
  const headers: Record<string, string> = { ...delivery.headers, "content-digest": `sha-256=:${hash256}:` };
  const components = ["@method", "@target-uri", "content-digest"];
  const signedParameters = `${listOf(components)};created=${formatTimestamp(now, "s")};alg="${name}"`;
  const text = signed(signatureBase({ components, signedParameters }, { ...delivery, headers, content }));
  headers.signature = `sig=:${text}:`;
  headers["signature-input"] = `sig=${signedParameters}`;
  return headers;
}

const DRAFT_NAMES: Readonly<Record<string, string>> = {
  "rsa-v1_5-sha256": "rsa-sha256",
  "ecdsa-p256-sha256": "ecdsa-sha256",
};

function firstOf([algorithm]: readonly JwtAlgorithm[]): JwtAlgorithm {
  if (!algorithm) throw new Error("the scheme has no algorithm");
  return algorithm;
}

const tokenPart = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The signature of a token, as it is written in it. */
function signToken(algorithm: JwtAlgorithm, signed: Buffer, secret: string | Buffer): string {
  const digest = digestOf(algorithm);
  const signature =
    usesSecret(algorithm) && digest !== null
      ? hmacOf(digest, secret).update(signed).digest()
      : sign(digest, signed, { key: privateKeyOf(String(secret)), ...formOf(algorithm) });
  return signature.toString("base64url");
}

function headerValue(
  scheme: SignedScheme,
  signature: string,
  items: HeaderItems,
  pairs: Record<string, string>,
): string {
  const { format, label, separator = ",", assignment = "=", timestamp } = scheme;
  if (typeof format === "object") return format.write(signature, items);
  switch (format) {
    case "list":
      return `${label},${signature}`;
    case "pairs":
      return [
        ...(timestamp && "pair" in timestamp ? [[timestamp.pair, items.timestamp]] : []),
        ...Object.entries(pairs),
        [label ?? "public_key", signature],
      ]
        .map((pair) => pair.join(assignment))
        .join(separator);
    default:
      return `${label ?? ""}${signature}`;
  }
}

/**
 * Puts a value into the body: into a field of a form, a member of JSON or of the JSON in a form, or one of each item of
 * a list.
 */
function withValue(
  content: Content,
  contentType: string,
  place: { json: string; each?: string } | { form: string },
  signatureOf: (content: Content) => string,
): Buffer {
  if ("form" in place) return withField(content, contentType, place.form, signatureOf(content));
  const field = JSON_FIELDS.find((name) => content.form().has(name));
  const json = (field && content.form().get(field)) ?? content.bytes.toString("utf8");
  const signed = withMember(json, content, place, signatureOf);
  return field === undefined ? Buffer.from(signed) : withField(content, contentType, field, signed);
}

/** The form with another value in a field. */
function withField(content: Content, contentType: string, name: string, value: string): Buffer {
  const form = new URLSearchParams(content.form());
  form.set(name, value);
  const boundary = content.mediaType === MULTIPART ? boundaryIn(contentType) : null;
  return Buffer.from(boundary === null ? String(form) : formatMultipart(form, boundary));
}

function withMember(
  json: string,
  content: Content,
  { json: path, each }: { json: string; each?: string },
  signatureOf: (content: Content) => string,
): string {
  const body: unknown = JSON.parse(json);
  const items = each === undefined ? [body] : valueAt(body, each);
  if (!Array.isArray(items)) throw new Error(`the body lacks the list ${each}`);
  for (const item of items) {
    const value = signatureOf({ ...content, member: (path) => valueAt(item, path) });
    const names = path.split(".");
    const last = names.pop() as string;
    const object = names.length === 0 ? item : valueAt(item, names.join("."));
    (object as Record<string, unknown>)[last] = value;
  }
  return JSON.stringify(body);
}

const LIFETIME_SECONDS = 300;

/** What a token covers of a delivery. */
interface CoveredDelivery extends RequestLine {
  body: Uint8Array;
}

/** The claims of a token that signs a delivery, made at `now` in Unix milliseconds. */
function claimsFor(
  scheme: JwtScheme,
  delivery: CoveredDelivery,
  now: number,
  options: Options = {},
): Record<string, unknown> {
  const { issuer, audience, bodyClaim, bodyEncoding, isBodyOptional, requestClaims = {} } = scheme;
  const { origin, target, body } = delivery;
  const url = origin + target;
  const iat = Math.floor(now / 1000);
  const required = Object.entries(requiredClaims(scheme, options));
  return {
    ...Object.fromEntries(required.map(([name, [text]]) => [name, text === "{url}" ? url : text])),
    iat,
    exp: iat + LIFETIME_SECONDS,
    jti: randomUUID(),
    ...(issuer !== undefined && { iss: issuer }),
    ...(audience !== undefined && { aud: audience === "url" ? url : audience.text }),
    ...(bodyClaim !== undefined &&
      !(isBodyOptional && body.length === 0) && { [bodyClaim]: hash("sha256", body, bodyEncoding ?? "hex") }),
    ...Object.fromEntries(Object.entries(requestClaims).map(([name, textsOf]) => [name, textsOf(delivery)[0]])),
  };
}
