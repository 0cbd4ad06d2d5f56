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

/** What it means to the operator that a PEM file cannot be read. */
export function unreadablePem(setting: string, code: string): Fault {
  return { found: `${setting} cannot be read (${code})`, remedy: "name a readable PEM file" };
}

/** A PEM certificate chain and its key. */
export interface PemPair {
  cert: Buffer;
  key: Buffer;
}

/** What is wrong with the pair that TLS_CERT_FILE and TLS_KEY_FILE name. */
export function faultOfPair({ cert, key }: PemPair): Fault | undefined {
  try {
    createSecureContext({ cert, key });
    // A context takes a key of another type than the certificate's, and then no handshake succeeds.
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return undefined;
    return unusablePair("the first certificate is of another key");
  } catch (error) {
    return unusablePair(describeError(error));
  }
}

function unusablePair(why: string): Fault {
  const found = `TLS_CERT_FILE and TLS_KEY_FILE are not a usable pair (${why})`;
  return { found, remedy: "name a PEM certificate and its key" };
}

/** What is wrong with the certificates that REDIS_TLS_CA_FILE names. Node passes over what is none, and then trusts nobody. */
export function faultOfAuthorities(pem: Buffer): Fault | undefined {
  try {
    // As text: TLS takes PEM only.
    new X509Certificate(pem.toString());
    return undefined;
  } catch {
    const remedy = "name the certificates of the authority that signed the server's, as PEM";
    return { found: "REDIS_TLS_CA_FILE holds no certificate", remedy };
  }
}
