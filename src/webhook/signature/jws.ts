import { hash, X509Certificate } from "node:crypto";
import { extensionsOf } from "../../lib/certificate-extensions.ts";
import { objectIn } from "../../lib/compact-jws.ts";
import { valueAt } from "../../lib/json-path.ts";
import type { Content } from "../content/content.ts";
import type { BoundScheme, RefusalReason, SignatureSettings, Verified } from "./bound-scheme.ts";
import { credentialOf, faultOfTimes, holdsClaims, isSignedWith, type OpenToken, openToken } from "./jwt.ts";
import { type JwsScheme, requiredClaims } from "./schemes.ts";
import type { Credential } from "./secret.ts";

/** Prepares a scheme of tokens in the body, for the keys of a source, or the roots that it has as its keys. */
export function bindJws(scheme: JwsScheme, source: SignatureSettings): BoundScheme {
  const { keys = [], options } = source;
  const required = requiredClaims(scheme, options);
  const covers = { body: false, members: scheme.json === undefined ? [] : [scheme.json], headers: [] };
  const certificatesOf = (key: (typeof keys)[number]) => key.keys.flatMap(({ certificate }) => certificate ?? []);

  function verifyToken({ bytes, member }: Content, now: number): Verified | RefusalReason {
    const text = scheme.json === undefined ? bytes.toString("latin1").replace(/\r?\n$/, "") : member(scheme.json);
    if (typeof text !== "string") return "no_signature";
    // The body has a limit.
    const token = openToken(text, text.length, scheme.algorithms);
    if (token === null) return "malformed_signature";
    const secret = scheme.isKeyed ? (credentialOf(token, source) ?? "signature_mismatch") : certifiedBy(token, now);
    if (typeof secret === "string") return secret;
    const claims = claimsIn(token);
    if (claims === null) return "malformed_signature";
    const fault = faultOfTimes(claims, Math.floor(now / 1000), {});
    if (fault !== null) return fault;
    if (!isBound(claims) || !holdsClaims(claims, required, [])) return "signature_mismatch";
    // A signature can be written in several ways, and what is beside the token is not signed.
    return { scheme, secret, covers, digest: hash("sha256", token.signed), claims };
  }

  function claimsIn({ payload }: OpenToken): Record<string, unknown> | null {
    const claims = objectIn(payload);
    return claims && scheme.readClaims ? scheme.readClaims(claims) : claims;
  }

  /** The root that vouches for the certificate which signed a token. */
  function certifiedBy(token: OpenToken, now: number): Credential | RefusalReason {
    const chain = readChain(token.header.x5c);
    if (chain === null) return "malformed_signature";
    const [first] = chain;
    const secret = keys.find((key) => rootOf(chain, certificatesOf(key), scheme.extensions ?? [], now));
    if (!first || !secret) return "signature_mismatch";
    const isRight = isSignedWith(token.algorithm, first.publicKey, token.signed, token.signature);
    return isRight ? secret : "signature_mismatch";
  }

  /** Whether the first of some claims that is there is what the source sets. */
  function isBound(claims: Record<string, unknown>): boolean {
    const wanted = scheme.bound && options?.[scheme.bound.option];
    if (wanted === undefined) return true;
    const found = scheme.bound?.claims.map((path) => valueAt(claims, path)).find((value) => value !== undefined);
    return found === wanted;
  }

  return {
    read:
      (_headers, now) =>
      ({ content }) =>
        verifyToken(content, now),
  };
}

// Apple's have three. Each costs a check of a signature.
const MAX_CERTIFICATES = 5;
// Apple's have about 1500 characters. Anybody can send others.
const MAX_CERTIFICATE_LENGTH = 16 * 1024;

/**
 * The certificates in the header `x5c` of a token, that of its key first (RFC 7515, 4.1.6); null if it has no such
 * form.
 */
export function readChain(x5c: unknown): X509Certificate[] | null {
  if (!Array.isArray(x5c) || x5c.length === 0 || x5c.length > MAX_CERTIFICATES) return null;
  // An object with a length would become a buffer of that length.
  if (!x5c.every((text) => typeof text === "string" && text.length <= MAX_CERTIFICATE_LENGTH)) return null;
  try {
    return x5c.map((text) => new X509Certificate(Buffer.from(text, "base64")));
  } catch {
    return null;
  }
}

/**
 * The root that vouches for the first certificate of a chain at a time in Unix milliseconds; undefined if none does.
 * `extensions` are identifiers that the first certificate must have, then the next one. Revocation is not asked for.
 */
function rootOf(
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  extensions: readonly string[],
  now: number,
): X509Certificate | undefined {
  const isCurrent = ({ validFromDate, validToDate }: X509Certificate) =>
    validFromDate.getTime() <= now && now <= validToDate.getTime();
  for (const [index, certificate] of chain.entries()) {
    if (!isCurrent(certificate)) return undefined;
    const extension = extensions[index];
    if (extension !== undefined && !extensionsOf(certificate).includes(extension)) return undefined;
    const root = roots.find((one) => isCurrent(one) && (one.raw.equals(certificate.raw) || isIssued(certificate, one)));
    // All that must have an extension lie below the root.
    if (root) return index + 1 < extensions.length ? undefined : root;
    const issuer = chain[index + 1];
    if (!issuer?.ca || !isIssued(certificate, issuer)) return undefined;
  }
  return undefined;
}

function isIssued(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
