import { createPrivateKey, createSign, type KeyObject } from "node:crypto";

/**
 * Reads a private RSA key in PEM. Environments without line breaks have it with `\n` in their place, or in base64.
 * Returns null if it is none, or if a password protects it.
 */
export function readRsaKey(text: string): KeyObject | null {
  const pem = text.includes("-----BEGIN") ? text.replaceAll("\\n", "\n") : Buffer.from(text, "base64").toString();
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "rsa" ? key : null;
  } catch {
    return null;
  }
}

/** A JWT with these claims, signed with RS256 (RFC 7515). Throws if the text is no key. */
export function signedJwt(claims: object, keyText: string): string {
  const key = readRsaKey(keyText);
  if (key === null) throw new Error("the private key is no RSA key in PEM without a password");
  const signed = [{ alg: "RS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(key, "base64url")}`;
}
