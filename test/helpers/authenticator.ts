import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const FLAGS = { present: 0x01, verified: 0x04, synced: 0x08, data: 0x40 };

/** What an authenticator is made to do wrong. */
interface Wrongs {
  origin?: string;
  rpId?: string;
  /** Whether somebody has touched it; by default somebody has. */
  isPresent?: boolean;
  /** Whether it has verified its user; by default it has. */
  isVerified?: boolean;
  counter?: number;
  /** Whether several devices may have it; by default not. */
  isSynced?: boolean;
  userHandle?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  type?: string;
  /** Another key than that of the passkey. */
  key?: KeyObject;
}

const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url");
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** CBOR of a byte string or a text of less than 65,536 bytes (RFC 8949, 3.1). */
function cbor(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const major = typeof value === "string" ? 0x60 : 0x40;
  if (bytes.length < 24) return Buffer.concat([Buffer.from([major + bytes.length]), bytes]);
  return Buffer.concat([Buffer.from([major + 25, bytes.length >> 8, bytes.length & 255]), bytes]);
}

/** The attestation object of an authenticator that attests nothing (WebAuthn level 3, 8.7). */
export function attestationWithout(authData: Buffer): Buffer {
  const empty = Buffer.from("a0", "hex");
  const members = [cbor("fmt"), cbor("none"), cbor("attStmt"), empty, cbor("authData"), cbor(authData)];
  return Buffer.concat([Buffer.from("a3", "hex"), ...members]);
}

/** A passkey in software: ES256, without attestation (WebAuthn level 3, 6.1 and 6.5). */
export class Authenticator {
  readonly credentialId: string;
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  userHandle = "";
  counter = 0;

  constructor(idLength = 16) {
    this.credentialId = base64(randomBytes(idLength));
  }

  /** Makes the passkey: the answer of the browser to these options, as JSON. */
  create(
    { challenge, rp, user }: { challenge: string; rp: { id?: string }; user: { id: string } },
    origin: string,
    wrongs: Wrongs = {},
  ): string {
    this.userHandle = user.id;
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const publicKey = Buffer.concat([
      Buffer.from("a5010203262001", "hex"),
      Buffer.from("21", "hex"),
      Buffer.from("5820", "hex"),
      Buffer.from(x, "base64url"),
      Buffer.from("225820", "hex"),
      Buffer.from(y, "base64url"),
    ]);
    const id = Buffer.from(this.credentialId, "base64url");
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const data = [this.#authData(String(rp.id), FLAGS.data, wrongs), Buffer.alloc(16), length, id, publicKey];
    const attestation = attestationWithout(Buffer.concat(data));
    const response = {
      clientDataJSON: base64(this.#clientData("webauthn.create", challenge, origin, wrongs)),
      attestationObject: base64(attestation),
      transports: ["internal"],
    };
    return this.#answer(response);
  }

  /** Uses the passkey: the answer of the browser to these options, as JSON. */
  get({ challenge, rpId }: { challenge: string; rpId: string }, origin: string, wrongs: Wrongs = {}): string {
    const authData = this.#authData(rpId, 0, wrongs);
    const clientData = this.#clientData("webauthn.get", challenge, origin, wrongs);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    return this.#answer({
      clientDataJSON: base64(clientData),
      authenticatorData: base64(authData),
      signature: base64(sign("sha256", signed, wrongs.key ?? this.#keys.privateKey)),
      userHandle: wrongs.userHandle ?? this.userHandle,
    });
  }

  #answer(response: object): string {
    const { credentialId: id } = this;
    return JSON.stringify({ id, rawId: id, type: "public-key", response, clientExtensionResults: {} });
  }

  #clientData(type: string, challenge: string, origin: string, wrongs: Wrongs): string {
    const { crossOrigin = false, topOrigin } = wrongs;
    const data = { type: wrongs.type ?? type, challenge, origin: wrongs.origin ?? origin, crossOrigin, topOrigin };
    return JSON.stringify(data);
  }

  #authData(rpId: string, flags: number, wrongs: Wrongs) {
    const { rpId: wrong = rpId, isPresent = true, isVerified = true, isSynced = false } = wrongs;
    const present = isPresent ? FLAGS.present : 0;
    const all = flags | present | (isVerified ? FLAGS.verified : 0) | (isSynced ? FLAGS.synced : 0);
    return Buffer.concat([sha256(wrong), Buffer.from([all]), u32(wrongs.counter ?? this.counter)]);
  }
}
