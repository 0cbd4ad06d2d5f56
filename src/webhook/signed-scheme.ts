import type { BoundScheme, RefusalReason, Verified } from "./bound-scheme.ts";
import { createDigestReader, type IsDigest } from "./digest-text.ts";
import { createHmac } from "./hmac.ts";
import { DEFAULT_TOLERANCE_SECONDS, type HmacScheme } from "./schemes.ts";
import { keysOf } from "./secret-key.ts";
import { readSignatures } from "./signature-items.ts";
import { type Covered, type HeaderItems, parseSignedText, readSignedText, type SignedRequest } from "./signed-text.ts";
import type { Secret } from "./source.ts";
import { parseTimestamp } from "./timestamp.ts";

type Headers = SignedRequest["headers"];

/** Signatures that have the form of digests, and what belongs to them. */
interface ReadGroup extends HeaderItems {
  digests: readonly IsDigest[];
}

/** Prepares an HMAC scheme for the secrets of a source. */
export function bindHmac(scheme: HmacScheme, secrets: readonly Secret[], sourceTolerance?: number): BoundScheme {
  const { signature, timestamp } = scheme;
  const toleranceSeconds = sourceTolerance ?? scheme.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const readDigest = createDigestReader(scheme.algorithm, scheme.encodings);
  const signed = parseSignedText(scheme.signed);
  const optional = (scheme.optional ?? []).map(parseSignedText);
  /** One HMAC for each key of each secret. */
  const keys = secrets.flatMap((secret) =>
    keysOf(scheme.key, secret.value).map((key) => ({ hmac: createHmac(scheme.algorithm, key), secret })),
  );

  /** The groups that may be valid, or why there are none. */
  function readGroups(values: readonly string[], headers: Headers, now: number): ReadGroup[] | RefusalReason {
    const groups: ReadGroup[] = [];
    let reason: RefusalReason = "malformed_signature";
    for (const group of readSignatures(scheme, values)) {
      const digests = group.signatures.map(readDigest).filter((digest) => digest !== null);
      if (digests.length === 0) continue;
      const sent = timestamp && "header" in timestamp ? textOf(headers[timestamp.header]) : group.timestamp;
      const fault = timestamp ? faultOfTime(sent, now) : null;
      if (fault === null) groups.push({ digests, timestamp: sent, pair: group.pair });
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

  /** Returns the secret that a signature was made with. All are compared, so that the time does not reveal a match. */
  function secretOf(group: ReadGroup, request: SignedRequest): Secret | undefined {
    const required = readSignedText(signed, request, group);
    if (required === null) return undefined;
    const pieces = [...optional.flatMap((text) => readSignedText(text, request, group) ?? []), ...required];
    let found: Secret | undefined;
    for (const { hmac, secret } of keys) {
      const expected = hmac(...pieces);
      const isRight = group.digests.reduce((right, isDigest) => isDigest(expected) || right, false);
      if (isRight) found ??= secret;
    }
    return found;
  }

  function verify(request: SignedRequest, groups: readonly ReadGroup[]): Verified | RefusalReason {
    for (const group of groups) {
      const secret = secretOf(group, request);
      if (secret === undefined) continue;
      return { scheme, secret, covers: union([...optional, signed].map(({ coveredBy }) => coveredBy(group))) };
    }
    return "signature_mismatch";
  }

  if ("headers" in signature) {
    return {
      read(headers, now) {
        const values = valuesOf(signature.headers, headers);
        if (values === null) return "no_signature";
        const groups = readGroups(values, headers, now);
        return typeof groups === "string" ? groups : (request) => verify(request, groups);
      },
    };
  }
  return {
    read: (headers, now) => (request) => {
      const { content } = request;
      const value = "json" in signature ? content.member(signature.json) : content.form().get(signature.form);
      if (typeof value !== "string") return "no_signature";
      const groups = readGroups([value], headers, now);
      return typeof groups === "string" ? groups : verify(request, groups);
    },
  };
}

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
