import { createHmac, timingSafeEqual } from "node:crypto";

const keyOf = (secret: string, sid: string) =>
  createHmac("sha256", secret)
    .update(JSON.stringify(["end session", sid]))
    .digest();

/** The query of a link that ends one session, for whoever has the link. It gives no other right. */
export function endSessionQuery(secret: string, sid: string): string {
  return String(new URLSearchParams({ sid, key: keyOf(secret, sid).toString("base64url") }));
}

/** Whether the key of a link is that of the session. */
export function mayEndSession(secrets: readonly string[], sid: string, key: string): boolean {
  const given = Buffer.from(key, "base64url");
  return given.length === 32 && secrets.some((secret) => timingSafeEqual(keyOf(secret, sid), given));
}
