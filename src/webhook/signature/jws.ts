import { hash } from "node:crypto";
import { objectIn } from "../../lib/compact-jws.ts";
import { valueAt } from "../../lib/json-path.ts";
import type { Content } from "../intake/content.ts";
import type { VerifiedBy } from "../source.ts";
import type { BoundScheme, RefusalReason, Verified } from "./bound-scheme.ts";
import { readChain, rootOf } from "./certificate-chain.ts";
import { faultOfTimes, holdsClaims, isSignedWith, openToken } from "./jwt.ts";
import { type JwsScheme, requiredClaims } from "./schemes.ts";

/**
 * Prepares a scheme of tokens in the body, whose certificates lead to one of the roots that the source has as its keys.
 */
export function bindJws(scheme: JwsScheme, { keys = [], options }: VerifiedBy): BoundScheme {
  const required = requiredClaims(scheme, options);
  const certificatesOf = (key: (typeof keys)[number]) => key.keys.flatMap(({ certificate }) => certificate ?? []);

  function verifyToken({ member }: Content, now: number): Verified | RefusalReason {
    const text = member(scheme.json);
    if (typeof text !== "string") return "no_signature";
    // The body has a limit.
    const token = openToken(text, text.length, scheme.algorithms);
    const chain = readChain(token?.header.x5c);
    if (token === null || chain === null) return "malformed_signature";
    const [first] = chain;
    const secret = keys.find((key) => rootOf(chain, certificatesOf(key), scheme.extensions ?? [], now));
    if (!first || !secret) return "signature_mismatch";
    if (!isSignedWith(token.algorithm, first.publicKey, token.signed, token.signature)) return "signature_mismatch";
    const claims = objectIn(token.payload);
    if (claims === null) return "malformed_signature";
    const fault = faultOfTimes(claims, Math.floor(now / 1000), {});
    if (fault !== null) return fault;
    if (!isBound(claims) || !holdsClaims(claims, required, [])) return "signature_mismatch";
    const covers = { body: false, members: [scheme.json], headers: [] };
    // A signature can be written in several ways, and what is beside the token is not signed.
    return { scheme, secret, covers, digest: hash("sha256", token.signed), claims };
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
