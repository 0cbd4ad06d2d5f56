import { createHash, timingSafeEqual } from "node:crypto";
import { valueAt } from "../../lib/json-path.ts";
import { queryOf } from "../../lib/request-target.ts";
import type { BoundScheme, RefusalReason, Verified } from "./bound-scheme.ts";
import type { BasicScheme, TokenScheme } from "./schemes.ts";
import type { Secret } from "./secret.ts";
import { withoutScheme } from "./signature-items.ts";
import type { SignedRequest } from "./signed-text.ts";

/**
 * Prepares a scheme in which the delivery carries the secret itself. In a header, it is compared before the body is
 * read.
 */
export function bindSharedSecret(scheme: TokenScheme | BasicScheme, secrets: readonly Secret[]): BoundScheme {
  const known = secrets.map((secret) => ({ secret, digest: sha256(Buffer.from(secret.value)) }));

  function judge(given: Buffer | null): Verified | RefusalReason {
    if (given === null) return "malformed_signature";
    const digest = sha256(given);
    let found: Secret | undefined;
    for (const entry of known) if (timingSafeEqual(digest, entry.digest)) found ??= entry.secret;
    if (found === undefined) return "signature_mismatch";
    return { scheme, secret: found, covers: { body: false, members: [], headers: [] } };
  }

  /** A plus sign in the query is a blank, unless the user who wrote the address meant it. */
  function judgeAny([decoded, asWritten]: readonly [decoded: string, asWritten?: string]): Verified | RefusalReason {
    const verdict = judge(Buffer.from(decoded));
    return typeof verdict === "string" && asWritten !== undefined ? judge(Buffer.from(asWritten)) : verdict;
  }

  if (scheme.type === "token" && !("header" in scheme)) {
    return {
      read: () => (request) => {
        let verdict: Verified | RefusalReason = "no_signature";
        for (const text of textsIn(scheme, request)) {
          verdict = text === undefined ? "no_signature" : judgeAny(text);
          if (typeof verdict === "string") return verdict;
        }
        return verdict;
      },
    };
  }
  return {
    read(headers) {
      const value = headers[scheme.type === "token" ? scheme.header : "authorization"];
      if (typeof value !== "string") return "no_signature";
      const verified = judge(givenIn(scheme, value));
      return typeof verified === "string" ? verified : () => verified;
    },
  };
}

/** A scheme whose secret is in a header. */
export type InHeader = BasicScheme | Extract<TokenScheme, { header: string }>;

/** The secret in the header of a scheme; null if the header has not its form. */
export function givenIn(scheme: InHeader, value: string): Buffer | null {
  return scheme.type === "token" ? tokenIn(value, scheme.label) : credentialsIn(value);
}

/** The header of a scheme with a secret. */
export function writtenWith(scheme: InHeader, secret: string): string {
  const bytes = Buffer.from(secret);
  return scheme.type === "token"
    ? `${scheme.label ?? ""}${bytes.toString("latin1")}`
    : `Basic ${bytes.toString("base64")}`;
}

/** The texts that must each be the secret, as they may be read. */
function textsIn(scheme: Exclude<TokenScheme, { header: string }>, { target, content }: SignedRequest) {
  if ("path" in scheme) return [readings(lastSegment(target))];
  if ("query" in scheme)
    return [readings(inQuery(target, scheme.query), inQuery(target.replaceAll("+", "%2B"), scheme.query))];
  const { json, each } = scheme;
  if (each === undefined) return [readings(content.member(json))];
  const items = content.member(each);
  return Array.isArray(items) ? items.map((item) => readings(valueAt(item, json))) : [];
}

const inQuery = (target: string, name: string) => queryOf(target).get(name);

function readings(text: unknown, other?: string | null): [string, string?] | undefined {
  if (typeof text !== "string" || text === "") return undefined;
  return other == null || other === text ? [text] : [text, other];
}

function lastSegment(target: string): string | undefined {
  const [path = ""] = target.split("?", 1);
  try {
    return decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
  } catch {
    return undefined;
  }
}

/** Node decodes each byte of a header as one character. */
function tokenIn(value: string, label: string | undefined): Buffer | null {
  const token = withoutScheme(value, label);
  return token === "" ? null : Buffer.from(token, "latin1");
}

/** The user and password of HTTP Basic authentication (RFC 7617). */
export function credentialsIn(value: string): Buffer | null {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(value)?.[1];
  return encoded === undefined ? null : Buffer.from(encoded, "base64");
}

/** Digests have one length, which the comparison in constant time needs. */
function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
