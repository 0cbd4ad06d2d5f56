import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

// The keys in this folder were made for these tests, and are used nowhere else.
const read = (name: string) => readFileSync(join(import.meta.dirname, "keys", name), "utf8");

const ed25519 = createPrivateKey(read("ed25519.key"));
const p256 = createPrivateKey(read("p256.key"));
const rsa = createPrivateKey(read("rsa.key"));

const spki = (key: KeyObject) => createPublicKey(key).export({ format: "der", type: "spki" });
const pem = (key: KeyObject) => createPublicKey(key).export({ format: "pem", type: "spki" }).toString();

/** The 32 bytes of the public key. */
export const ED25519_PUBLIC = spki(ed25519).subarray(-32);
export const P256_PUBLIC_DER = spki(p256);
export const P256_PUBLIC_PEM = pem(p256);
export const P256_PRIVATE = p256;
export const P256_PUBLIC_JWK = createPublicKey(p256).export({ format: "jwk" });
export const RSA_PUBLIC_PEM = pem(rsa);
/** A certificate of the key that it signed itself. */
export const RSA_CERTIFICATE = read("rsa.crt");

export const signEd25519 = (text: string) => sign(null, Buffer.from(text), ed25519);

/** The signature in DER. It is another one each time. */
export const signP256 = (text: string, digest: "sha1" | "sha256") => sign(digest, Buffer.from(text), p256);

/** A signature of RSA-SHA256 with the padding of PKCS #1 v1.5. */
export const signRsa = (text: string) => sign("sha256", Buffer.from(text), rsa).toString("base64");
