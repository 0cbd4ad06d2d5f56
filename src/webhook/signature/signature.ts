import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { valueAt } from "../../lib/json-path.ts";
import { queryOf } from "../../lib/request-target.ts";
import { type Content, isSha256Of } from "../content/content.ts";
import { addressesOf } from "./address-forms.ts";
import {
  type BoundScheme,
  type Candidate,
  REFUSAL_REASONS,
  type RefusalReason,
  type SignatureSettings,
  type Verified,
} from "./bound-scheme.ts";
import { bindDetachedJws } from "./detached-jws.ts";
import { bindHttpSignature } from "./http-signature.ts";
import { bindJws } from "./jws.ts";
import { bindJwt } from "./jwt.ts";
import { DEFAULT_TOLERANCE_SECONDS, type Scheme, type SignedScheme } from "./schemes.ts";
import { bindSharedSecret } from "./shared-secret.ts";
import { createSignatureCheck } from "./signature-check.ts";
import { readSignatures } from "./signature-items.ts";
import { type Covered, type HeaderItems, parseSignedText, readSignedText, type SignedRequest } from "./signed-text.ts";
import { parseTimestamp } from "./timestamp.ts";

/** The signatures of a delivery that may be valid, or why none can be. */
export type ReadSignatures = { candidates: readonly Candidate[] } | { reason: RefusalReason };

/** Verifies deliveries with the schemes, secrets and keys of a source. */
interface Verifier {
  /** Reads the signatures from the headers, before the body is read. `now` is in Unix milliseconds. */
  read(headers: IncomingHttpHeaders, now: number): ReadSignatures;
  /** Returns how the request was signed if one of the signatures is valid, else why none is. */
  verify(request: SignedRequest, candidates: readonly Candidate[]): Verified | RefusalReason;
  /** Both at once, for a request that was read already. */
  judge(request: SignedRequest, now: number): Verified | RefusalReason;
}

/** Creates the verifier of a source. A delivery is genuine if one scheme accepts it. Its methods never throw. */
export function createVerifier(source: SignatureSettings): Verifier {
  const bound = source.schemes.map((scheme) => bind(scheme, source));
  const verifier: Verifier = {
    read(headers, now) {
      const candidates: Candidate[] = [];
      let reason: RefusalReason = "no_signature";
      for (const scheme of bound) {
        const found = scheme.read(headers, now);
        if (typeof found === "function") candidates.push(found);
        else reason = further(reason, found);
      }
      // A scheme that failed here may have come further than those that still have to see the body.
      return candidates.length > 0 ? { candidates: [...candidates, () => reason] } : { reason };
    },
    verify(request, candidates) {
      let reason: RefusalReason = "no_signature";
      for (const candidate of candidates) {
        const found = candidate(request);
        if (typeof found === "object") return found;
        reason = further(reason, found);
      }
      return reason;
    },
    judge(request, now) {
      const read = verifier.read(request.headers, now);
      return "reason" in read ? read.reason : verifier.verify(request, read.candidates);
    },
  };
  return verifier;
}

function bind(scheme: Scheme, source: SignatureSettings): BoundScheme {
  switch (scheme.type) {
    case "jwt":
      return bindJwt(scheme, source);
    case "jws":
      return bindJws(scheme, source);
    case "detached-jws":
      return bindDetachedJws(scheme, source);
    case "httpsig":
      return bindHttpSignature(scheme, source);
    case "token":
    case "basic":
      return bindSharedSecret(scheme, source.secrets);
    default:
      return bindSigned(scheme, source);
  }
}

/** The reason of the scheme that came further. */
function further(one: RefusalReason, other: RefusalReason): RefusalReason {
  return REFUSAL_REASONS.indexOf(other) > REFUSAL_REASONS.indexOf(one) ? other : one;
}

type Headers = SignedRequest["headers"];

/** Texts that have the form of signatures, and what belongs to them. */
interface ReadGroup extends HeaderItems {
  signatures: readonly unknown[];
}

/** Prepares a scheme for the secrets and keys of a source. */
function bindSigned(scheme: SignedScheme, source: SignatureSettings): BoundScheme {
  const { signature, timestamp, bodyHash, isIdentity } = scheme;
  const { options, toleranceSeconds = scheme.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS } = source;
  const check = createSignatureCheck(scheme, source);
  const signed = parseSignedText(scheme, options);
  const covers = bodyHash ? { ...signed.covered, body: true } : signed.covered;

  /** The groups that may be valid, or why there are none. */
  function readGroups(
    values: readonly string[],
    { headers, content }: Pick<SignedRequest, "headers"> & Partial<SignedRequest>,
    now: number,
  ): ReadGroup[] | RefusalReason {
    const groups: ReadGroup[] = [];
    let reason: RefusalReason = "malformed_signature";
    for (const group of readSignatures(scheme, values)) {
      const signatures = group.signatures.map(check.read).filter((read) => read !== null);
      if (signatures.length === 0) continue;
      const sent = sentTime(group.timestamp, headers, content);
      const fault = timestamp ? faultOfTime(sent, now) : null;
      if (fault === null) groups.push({ signatures, timestamp: sent, pair: group.pair });
      else reason = fault;
    }
    return groups.length > 0 ? groups : reason;
  }

  /** The timestamp as sent. `inItems` is that of the signature header. */
  function sentTime(inItems: string, headers: Headers, content: Content | undefined): string {
    if (timestamp && "header" in timestamp) return textOf(headers[timestamp.header]);
    return timestamp && "json" in timestamp ? textOf(content?.member(timestamp.json)) : inItems;
  }

  function faultOfTime(sent: string, now: number): RefusalReason | null {
    const time = parseTimestamp(sent, timestamp?.unit ?? "s");
    if (time === null) return "timestamp_missing";
    const ageSeconds = Math.floor(now / 1000) - Math.floor(time / 1000);
    if (ageSeconds > toleranceSeconds) return "timestamp_too_old";
    return ageSeconds < -toleranceSeconds ? "timestamp_in_future" : null;
  }

  /** Verifies one group of signatures with all credentials. */
  function verifyGroup(group: ReadGroup, request: SignedRequest): Verified | null {
    const pieces = readSignedText(signed, request, group);
    if (pieces === null) return null;
    const secret = check.find(group.signatures, pieces);
    if (secret === undefined) return null;
    return { scheme, secret, covers, ...(isIdentity && { digest: hash("sha256", Buffer.concat(pieces)) }) };
  }

  function verify(request: SignedRequest, groups: readonly ReadGroup[]): Verified | RefusalReason {
    if (!isBound(request)) return "signature_mismatch";
    if (bodyHash && !isSha256Of(request.content, lastParameter(request.target, bodyHash.query)))
      return "signature_mismatch";
    const requests = signed.hasAddress ? addressesOf(request, source.publicOrigin, scheme.addressForms) : [request];
    for (const group of groups) {
      for (const variant of requests) {
        const verified = verifyGroup(group, variant);
        if (verified !== null) return verified;
      }
    }
    return "signature_mismatch";
  }

  function verifyValue(value: unknown, request: SignedRequest, now: number): Verified | RefusalReason {
    if (typeof value !== "string") return "no_signature";
    const groups = readGroups([value], request, now);
    return typeof groups === "string" ? groups : verify(request, groups);
  }

  /** Verifies each item of a list with the signature in it. One that is not right makes all of them wrong. */
  function verifyItems(list: string, place: string, request: SignedRequest, now: number): Verified | RefusalReason {
    const items = request.content.member(list);
    if (!Array.isArray(items) || items.length === 0) return "no_signature";
    let verified: Verified | RefusalReason = "no_signature";
    for (const item of items) {
      const content = { ...request.content, member: (path: string) => valueAt(item, path) };
      verified = verifyValue(valueAt(item, place), { ...request, content }, now);
      if (typeof verified === "string") return verified;
    }
    return typeof verified === "string" ? verified : { ...verified, covers: NOTHING };
  }

  /** Whether a member has the value that the source sets, if it does. */
  function isBound({ content }: SignedRequest): boolean {
    const wanted = scheme.bound && options?.[scheme.bound.option];
    return wanted === undefined || content.member(scheme.bound?.member ?? "") === wanted;
  }

  function isSignedSo({ content, target }: SignedRequest): boolean {
    const { only } = scheme;
    if (only === undefined) return true;
    if ("mediaType" in only) {
      const { mediaType, withoutQuery } = only;
      return content.mediaType === mediaType && !(withoutQuery && queryOf(target).has(withoutQuery));
    }
    const value = content.member(only.member);
    return typeof value === "string" && only.values.includes(value);
  }

  return {
    read(headers, now) {
      if (!("headers" in signature)) {
        return (request) => {
          if (!isSignedSo(request)) return "no_signature";
          if ("form" in signature) return verifyValue(request.content.form().get(signature.form), request, now);
          const { json, each } = signature;
          return each === undefined
            ? verifyValue(request.content.member(json), request, now)
            : verifyItems(each, json, request, now);
        };
      }
      const values = valuesOf(signature.headers, headers);
      if (values === null) return "no_signature";
      const groups = readGroups(values, { headers }, now);
      if (typeof groups === "string") return groups;
      return (request) => (isSignedSo(request) ? verify(request, groups) : "no_signature");
    },
  };
}

// What one item covers is not at the same place in the body.
const NOTHING: Covered = { body: false, members: [], headers: [] };

/**
 * The last parameter of the query, if it has this name. Another text behind it could be the fields of a form that was
 * signed.
 */
function lastParameter(target: string, name: string): string | undefined {
  const [last, value] = [...queryOf(target)].at(-1) ?? [];
  return last === name ? value : undefined;
}

/** The values of the headers that are there; null without any. */
function valuesOf(names: readonly string[], headers: Headers): string[] | null {
  const present = names.filter((name) => typeof headers[name] === "string");
  return present.length === 0 ? null : present.map((name) => headers[name] as string);
}

/** A text, or a number as text; else an empty text. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
