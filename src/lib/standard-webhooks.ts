import { createHmac } from "node:crypto";

/**
 * The headers of a signature of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks, spec 1.0) at
 * a time in Unix milliseconds.
 */
export function signStandard(id: string, payload: string | Uint8Array, key: Uint8Array, now: number) {
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(payload).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
