import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { describeError, type Fault, SettingsError, systemCode } from "../errors.ts";

/** Reads the PEM file that a setting names. Throws {@link SettingsError} when it cannot be read. */
export function readPemFile(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SettingsError([unreadablePem(setting, systemCode(error))]);
  }
}

/** The fault of a PEM file that cannot be read. */
export function unreadablePem(setting: string, code: string): Fault {
  return { found: `${setting} cannot be read (${code})`, remedy: "name a readable PEM file" };
}

/** A PEM certificate chain and its key. */
interface PemPair {
  cert: Buffer;
  key: Buffer;
}

/** The fault of the pair in TLS_CERT_FILE and TLS_KEY_FILE, if any. */
export function faultOfPair({ cert, key }: PemPair): Fault | undefined {
  try {
    createSecureContext({ cert, key });
    // A context accepts a key of another type than the certificate's, but then every handshake fails.
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return undefined;
    return unusablePair("the key does not belong to the first certificate");
  } catch (error) {
    return unusablePair(describeError(error));
  }
}

function unusablePair(why: string): Fault {
  const found = `TLS_CERT_FILE and TLS_KEY_FILE are not a usable pair (${why})`;
  return { found, remedy: "name a PEM certificate and its key" };
}

/**
 * The fault of the certificates in the file that a setting names, if any. Node ignores invalid ones and then trusts no
 * server.
 */
export function faultOfAuthorities(setting: string, pem: Buffer): Fault | undefined {
  try {
    // As text, because TLS accepts PEM only.
    new X509Certificate(pem.toString());
    return undefined;
  } catch {
    const remedy = "name a PEM file with the certificate of the authority that signed the server's";
    return { found: `${setting} holds no certificate`, remedy };
  }
}
