import { X509Certificate } from "node:crypto";
import { extensionsOf } from "../../lib/certificate-extensions.ts";

// Apple's have three. Each costs a check of a signature.
const MAX_CERTIFICATES = 5;
// Apple's have about 1500 characters. Anybody can send others.
const MAX_CERTIFICATE_LENGTH = 16 * 1024;

/**
 * The certificates in the header `x5c` of a token, that of its key first (RFC 7515, 4.1.6); null if it has no such
 * form.
 */
export function readChain(x5c: unknown): X509Certificate[] | null {
  if (!Array.isArray(x5c) || x5c.length === 0 || x5c.length > MAX_CERTIFICATES) return null;
  // An object with a length would become a buffer of that length.
  if (!x5c.every((text) => typeof text === "string" && text.length <= MAX_CERTIFICATE_LENGTH)) return null;
  try {
    return x5c.map((text) => new X509Certificate(Buffer.from(text, "base64")));
  } catch {
    return null;
  }
}

/**
 * The root that vouches for the first certificate of a chain at a time in Unix milliseconds; undefined if none does.
 * `extensions` are identifiers that the first certificate must have, then the next one. Revocation is not asked for.
 */
export function rootOf(
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  extensions: readonly string[],
  now: number,
): X509Certificate | undefined {
  const isCurrent = ({ validFromDate, validToDate }: X509Certificate) =>
    validFromDate.getTime() <= now && now <= validToDate.getTime();
  for (const [index, certificate] of chain.entries()) {
    if (!isCurrent(certificate)) return undefined;
    const extension = extensions[index];
    if (extension !== undefined && !extensionsOf(certificate).includes(extension)) return undefined;
    const root = roots.find((one) => isCurrent(one) && (one.raw.equals(certificate.raw) || isIssued(certificate, one)));
    // All that must have an extension lie below the root.
    if (root) return index + 1 < extensions.length ? undefined : root;
    const issuer = chain[index + 1];
    if (!issuer?.ca || !isIssued(certificate, issuer)) return undefined;
  }
  return undefined;
}

function isIssued(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
