import { valueAt } from "../lib/json-path.ts";
import { addressesOf } from "./address-forms.ts";
import type { BoundScheme, RefusalReason, Verified } from "./bound-scheme.ts";
import { isSha256Of } from "./content.ts";
import { DEFAULT_TOLERANCE_SECONDS, type SignedScheme } from "./schemes.ts";
import { type Credential, createSignatureCheck } from "./signature-check.ts";
import { readSignatures } from "./signature-items.ts";
import {
  type Covered,
  type HeaderItems,
  parseSignedText,
  queryOf,
  readSignedText,
  type SignedRequest,
} from "./signed-text.ts";
import type { VerifiedBy } from "./source.ts";
import { parseTimestamp } from "./timestamp.ts";

type Headers = SignedRequest["headers"];

/** Texts that have the form of signatures, and what belongs to them. */
interface ReadGroup extends HeaderItems {
  signatures: readonly unknown[];
}

/** Prepares a scheme for the secrets and keys of a source. */
export function bindSigned(scheme: SignedScheme, source: VerifiedBy): BoundScheme {
  const { signature, timestamp, bodyHash } = scheme;
  const { options, toleranceSeconds = scheme.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS } = source;
  const check = createSignatureCheck(scheme, source);
  const signed = parseSignedText(scheme.signed, options);
  const optional = (scheme.optional ?? []).map((text) => parseSignedText(text, options));
  const hasAddress = [...optional, signed].some((text) => text.hasAddress);

  /** The groups that may be valid, or why there are none. */
  function readGroups(values: readonly string[], headers: Headers, now: number): ReadGroup[] | RefusalReason {
    const groups: ReadGroup[] = [];
    let reason: RefusalReason = "malformed_signature";
    for (const group of readSignatures(scheme, values)) {
      const signatures = group.signatures.map(check.read).filter((read) => read !== null);
      if (signatures.length === 0) continue;
      const sent = timestamp && "header" in timestamp ? textOf(headers[timestamp.header]) : group.timestamp;
      const fault = timestamp ? faultOfTime(sent, now) : null;
      if (fault === null) groups.push({ signatures, timestamp: sent, pair: group.pair });
      else reason = fault;
    }
    return groups.length > 0 ? groups : reason;
  }

  function faultOfTime(sent: string, now: number): RefusalReason | null {
    const time = parseTimestamp(sent, timestamp?.unit ?? "s");
    if (time === null) return "timestamp_missing";
    const ageSeconds = Math.floor(now / 1000) - Math.floor(time / 1000);
    if (ageSeconds > toleranceSeconds) return "timestamp_too_old";
    return ageSeconds < -toleranceSeconds ? "timestamp_in_future" : null;
  }

  /** Returns the credential that a signature was made with. */
  function credentialOf(group: ReadGroup, request: SignedRequest): Credential | undefined {
    const required = readSignedText(signed, request, group);
    if (required === null) return undefined;
    const pieces = [...optional.flatMap((text) => readSignedText(text, request, group) ?? []), ...required];
    return check.find(group.signatures, pieces);
  }

  function verify(request: SignedRequest, groups: readonly ReadGroup[]): Verified | RefusalReason {
    if (bodyHash && !isSha256Of(request.content, queryOf(request.target).get(bodyHash.query)))
      return "signature_mismatch";
    const requests = hasAddress ? addressesOf(request, source.publicOrigin, scheme.addressForms) : [request];
    for (const group of groups) {
      for (const variant of requests) {
        const secret = credentialOf(group, variant);
        if (secret !== undefined) return { scheme, secret, covers: coveredBy(group) };
      }
    }
    return "signature_mismatch";
  }

  function coveredBy(group: ReadGroup): Covered {
    const covers = union([...optional, signed].map((text) => text.coveredBy(group)));
    return bodyHash ? { ...covers, body: true } : covers;
  }

  function verifyValue(value: unknown, request: SignedRequest, now: number): Verified | RefusalReason {
    if (typeof value !== "string") return "no_signature";
    const groups = readGroups([value], request.headers, now);
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

  function isSignedSo({ content }: SignedRequest): boolean {
    const { only } = scheme;
    if (only === undefined) return true;
    if ("mediaType" in only) return content.mediaType === only.mediaType;
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
      const groups = readGroups(values, headers, now);
      if (typeof groups === "string") return groups;
      return (request) => (isSignedSo(request) ? verify(request, groups) : "no_signature");
    },
  };
}

// What one item covers is not at the same place in the body.
const NOTHING: Covered = { body: false, members: [], headers: [] };

/** The values of the headers that are there; null without any. */
function valuesOf(names: readonly string[], headers: Headers): string[] | null {
  const present = names.filter((name) => typeof headers[name] === "string");
  return present.length === 0 ? null : present.map((name) => headers[name] as string);
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === "string" ? value : "";
}

function union(parts: readonly Covered[]): Covered {
  const [only, ...others] = parts;
  if (only && others.length === 0) return only;
  return {
    body: parts.some(({ body }) => body),
    members: parts.flatMap(({ members }) => members),
    headers: parts.flatMap(({ headers }) => headers),
  };
}
