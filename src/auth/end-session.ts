import { isSignature, signatureOf } from "./signed-ids.ts";

const signed = (sid: string) => ["end session", sid];

/** The query of a link that ends one session, for whoever has the link. It gives no other right. */
export function endSessionQuery(secret: string, sid: string): string {
  return String(new URLSearchParams({ sid, key: signatureOf(secret, signed(sid)) }));
}

/** Whether the key of a link is that of the session. */
export function mayEndSession(secrets: readonly string[], sid: string, key: string): boolean {
  return isSignature(secrets, signed(sid), key);
}
