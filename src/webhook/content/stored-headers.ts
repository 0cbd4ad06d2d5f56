import type { IncomingHttpHeaders } from "node:http";

// Headers that are not stored: signatures, cookies, credentials, keys, tokens, secrets, passwords, and addresses, whose
// query may have them. The specific names are those of senders, and of proxies that log users in.
const CONFIDENTIAL =
  /signature|cookie|credential|authorization|key|token|secret|pass|hmac|mac$|^x-hub-|^x-trello-webhook$|(?:^|-)(?:sig|auth|jwt|oidc)(?:-|$)|^referer$|^x-original-ur[il]$|^x-forwarded-uri$|-unencoded-url$|^verif-hash$|^plaid-verification$|^x-payload-digest$/;

// The results are cached, because senders use few names. The limit is for a sender that uses many.
const MAX_CACHED_NAMES = 1000;
const confidentialNames = new Map<string, boolean>();

/** Whether the value of a header may be a secret. `name` is in lower case. */
export function isConfidential(name: string): boolean {
  const known = confidentialNames.get(name);
  if (known !== undefined) return known;
  const confidential = CONFIDENTIAL.test(name);
  if (confidentialNames.size < MAX_CACHED_NAMES) confidentialNames.set(name, confidential);
  return confidential;
}

/**
 * Returns the headers to store with a delivery, as JSON: names in lower case, without confidential and omitted ones.
 */
export function storedHeaders(headers: IncomingHttpHeaders, omitted: ReadonlySet<string> = NONE): string {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || isConfidential(name) || omitted.has(name)) continue;
    kept[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return JSON.stringify(kept);
}

const NONE: ReadonlySet<string> = new Set();
