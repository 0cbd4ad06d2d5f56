import type { IncomingMessage } from "node:http";

// Kept out of the record: what proves who the sender is. The signature of every provider has one of these in its name.
const CONFIDENTIAL =
  /signature|hmac|authorization|cookie|secret|token|api-?key|password|mac$|^x-hub-|^x-trello-webhook$/;

/** The headers of a delivery as stored with it, in JSON: lower-case names, without signatures, cookies and authorization. */
export function originHeaders(request: IncomingMessage): string {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !CONFIDENTIAL.test(name)) kept[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return JSON.stringify(kept);
}
