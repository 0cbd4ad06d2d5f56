import type { IncomingMessage } from "node:http";

// Kept out of the record: what proves who the sender is. The signature of every provider has one of these in its name, and so
// has what a proxy that signs its users in adds.
const CONFIDENTIAL =
  /signature|hmac|authorization|cookie|secret|token|api-?key|password|mac$|^x-hub-|^x-trello-webhook$|(?:^|-)(?:sig|auth|jwt|oidc)(?:-|$)|^verif-hash$|^plaid-verification$|^x-payload-digest$/;

// Senders use few names, so each is judged once; the bound is for one that does not.
const MAX_JUDGED_NAMES = 1000;
const judged = new Map<string, boolean>();

function isConfidential(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const confidential = CONFIDENTIAL.test(name);
  if (judged.size < MAX_JUDGED_NAMES) judged.set(name, confidential);
  return confidential;
}

/** The headers of a delivery as stored with it, in JSON: lower-case names, without signatures, cookies and authorization. */
export function storedHeaders(request: IncomingMessage): string {
  const kept: Record<string, string> = {};
  for (const name in request.headers) {
    const value = request.headers[name];
    if (value !== undefined && !isConfidential(name)) kept[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return JSON.stringify(kept);
}
