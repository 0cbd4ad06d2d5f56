import { type CompactVerifyGetKey, compactVerify, EmbeddedJWK, type JWK } from "jose";
import { objectIn } from "../lib/compact-jws.ts";
import type { SessionDevice } from "./sessions.ts";
import { createSignedIds } from "./signed-ids.ts";

/** The algorithms that a device may sign with (Device Bound Session Credentials, 9.1). */
export const DEVICE_ALGORITHMS = ["ES256", "RS256"];

/** That of an RSA key with 4,096 bits is half as long. */
const MAX_PROOF_LENGTH = 4096;

const CHALLENGE_MS = 5 * 60_000;

// Servers that share sessions read clocks that may differ.
const CLOCK_SLACK_MS = 60_000;

interface BindingParts {
  /** The first one signs. */
  secrets: readonly string[];
  /** How long a proof of the device lasts. */
  proofSeconds: number;
  /** Unix milliseconds. */
  now: () => number;
}

/** What a browser has sent, or why it is refused. */
type Read<Sent> = Sent | { fault: string };

/**
 * Creates what binds a session to a key of its device (Device Bound Session Credentials). The browser registers a
 * public key, and then signs challenges with it. For each one it gets a cookie that proves the device for a while.
 */
export function createDeviceBinding({ secrets, proofSeconds, now }: BindingParts) {
  const challenges = (use: "register" | "refresh", sid: string) =>
    createSignedIds(secrets, 16, (id, time) => ["device challenge", use, sid, id, time]);
  const proofs = createSignedIds(secrets, 16, (sid, end) => ["device proof", sid, end]);
  const isCurrent = (time: number) => time > now() - CHALLENGE_MS && time <= now() + CLOCK_SLACK_MS;

  /** The challenge of the session that a proof answers. */
  function challengeOf(payload: Record<string, unknown>, ...[use, sid]: Parameters<typeof challenges>) {
    return typeof payload.jti === "string" ? challenges(use, sid).newest([payload.jti], isCurrent) : null;
  }

  return {
    /** How long a browser keeps the cookie. It counts longer, so that a request on its way still proves the device. */
    cookieSeconds: Math.max(1, Math.floor(0.9 * proofSeconds)),
    /** From when on a session must be proved whose device proves itself now: until then its first cookies last. */
    boundFrom: () => Math.floor(now()) + proofSeconds * 1000,
    /** The challenge for a new key of a session. */
    registrationChallenge: (sid: string) => challenges("register", sid).issue(Math.floor(now())).value,
    /** The challenge for the key of a session. It is newer than the last one, also if a clock is behind. */
    challenge: (sid: string, { challengedAt }: SessionDevice) =>
      challenges("refresh", sid).issue(Math.max(Math.floor(now()), challengedAt + 1)).value,
    /** The value of the cookie that proves the device of a session from now on. */
    proof: (sid: string) => proofs.issue(Math.floor(now()) + proofSeconds * 1000, sid).value,
    /** Whether one of these values proves the device of a session. */
    isProved: (sid: string, values: readonly string[]) =>
      values.some((value) => proofs.newest([value], (end) => end > now())?.id === sid),
    /** Reads the public key of a device that registers. */
    async readKey(sid: string, jwt: string): Promise<Read<{ publicKey: string }>> {
      const proof = await verify(jwt, EmbeddedJWK, DEVICE_ALGORITHMS);
      if (proof === null) return { fault: "no key has signed it as a dbsc+jwt, with ES256 or RS256" };
      if (challengeOf(proof.payload, "register", sid) === null) return { fault: "its challenge is not current" };
      return { publicKey: JSON.stringify({ ...publicMembers(proof.header.jwk ?? {}), alg: proof.header.alg }) };
    },
    /** Reads the challenge that a device has signed. */
    async readAnswer(sid: string, device: SessionDevice, jwt: string): Promise<Read<{ challengedAt: number }>> {
      const key = JSON.parse(device.publicKey) as JWK;
      const proof = await verify(jwt, key, [String(key.alg)]);
      if (proof === null) return { fault: "the key of the session has not signed it" };
      const challenge = challengeOf(proof.payload, "refresh", sid);
      if (challenge === null) return { fault: "its challenge is not current" };
      return challenge.time > device.challengedAt
        ? { challengedAt: challenge.time }
        : { fault: "its challenge, or a newer one, was signed before" };
    },
  };
}

/** What binds sessions to devices, see {@link createDeviceBinding}. */
export type DeviceBinding = ReturnType<typeof createDeviceBinding>;

async function verify(jwt: string, key: JWK | CompactVerifyGetKey, algorithms: string[]) {
  if (jwt.length > MAX_PROOF_LENGTH) return null;
  try {
    // It refuses RSA keys of less than 2,048 bits.
    const { payload, protectedHeader: header } = await compactVerify(jwt, key, { algorithms });
    const claims = header.typ === "dbsc+jwt" ? objectIn(Buffer.from(payload)) : null;
    return claims && { header, payload: claims };
  } catch {
    return null;
  }
}

/** The members of a public key that say which one it is. */
const publicMembers = ({ kty, crv, x, y, n, e }: Partial<JWK>) => (kty === "RSA" ? { kty, n, e } : { kty, crv, x, y });
