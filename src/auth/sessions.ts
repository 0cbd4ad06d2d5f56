import type { LoginRecord } from "./factors/store.ts";

/** The record of a user's active session. */
interface SessionRecord {
  sid: string;
  /** Unix milliseconds. */
  expiresAt: number;
  /** The origin of the login that opened the session, if it is known. */
  origin: LoginOrigin | null;
  /** Null if no browser has registered a key for the session. */
  device: SessionDevice | null;
}

/** The device of a session. Times are Unix milliseconds. */
export interface SessionDevice {
  /** Its public key: a JWK as text. */
  publicKey: string;
  /** The time of the newest challenge that the key has signed; 0 without one. */
  challengedAt: number;
  /** From when on requests must prove the device. Null until the key has signed a challenge. */
  boundFrom: number | null;
}

/** The origin of a login, as coarse as the user's other devices may see it. */
export interface LoginOrigin {
  /** An IPv4 /24 or an IPv6 /48. */
  network: string;
  /** The product name of the user agent. */
  userAgent: string | null;
}

/** A row of the record. The origin of the login is unknown if the network is null. */
export interface SessionRow {
  sid: string;
  expiresAt: number;
  network: string | null;
  userAgent: string | null;
  publicKey: string | null;
  challengedAt: number | null;
  boundFrom: number | null;
}

/** The record in a row. */
export function recordOf({ sid, expiresAt, network, userAgent, ...device }: SessionRow): SessionRecord {
  const { publicKey, challengedAt, boundFrom } = device;
  return {
    sid,
    expiresAt,
    origin: network === null ? null : { network, userAgent },
    device: publicKey === null ? null : { publicKey, challengedAt: challengedAt ?? 0, boundFrom },
  };
}

/** What a login leaves beside its session. A login does not fail because one of them cannot be written. */
export interface LoginNotes {
  /** For the list of recent logins of an account. */
  login: LoginRecord;
  account: string;
  /** The throttle's bucket of the address, which is known from now on; null if nobody has the address. */
  knownBucket: string | null;
}

/** What a new session has replaced. */
export interface Replaced {
  /** Whether an earlier session was live. */
  wasLive: boolean;
  /** Why the notes of the login could not be written; null if they are, or if there are none. */
  lostNotes: string | null;
}

/** The later login that ended a session. */
export interface Supersession {
  /** Unix milliseconds. */
  at: number;
  by: LoginOrigin;
}

/**
 * Stores the one active session of each user. Each method is one atomic step; reads never write.
 * Every method throws `store_unavailable` if the store does not answer.
 */
export interface SessionStore {
  /**
   * Writes the user's record and replaces any earlier one. If the login's origin is given, the supersession is kept
   * until the replaced session would have expired. In one database, the notes of the login share the commit.
   */
  replace(userId: string, sid: string, ttlSeconds: number, origin?: LoginOrigin, notes?: LoginNotes): Promise<Replaced>;
  /**
   * Gives a live record with this `sid` a lifetime from now, unless it has a longer one. Returns false, and changes
   * nothing, if the record has another `sid` or has ended.
   */
  extendIf(userId: string, sid: string, ttlSeconds: number): Promise<boolean>;
  /** Keeps the public key of the device of a live session. Returns false if the session has ended or has a key. */
  registerDevice(userId: string, sid: string, publicKey: string): Promise<boolean>;
  /**
   * Notes that the key of a live session has signed a challenge of this time. The first one binds the session from
   * `boundFrom` on. Returns false if the session has ended or has no key, or a challenge as new was signed.
   */
  proveDevice(userId: string, sid: string, challengedAt: number, boundFrom: number): Promise<boolean>;
  /** Returns the `sid` of the user's live record. */
  current(userId: string): Promise<string | null>;
  /** Returns the user's live record, of the same credential as `current`. */
  find(userId: string): Promise<SessionRecord | null>;
  /** Returns how a session was superseded; null when it ended another way, or its lifetime has passed. */
  supersession(userId: string, sid: string): Promise<Supersession | null>;
  /** Deletes the record if it has this `sid`. Returns whether it did. */
  removeIf(userId: string, sid: string): Promise<boolean>;
  /** Deletes the record. Returns whether it was live. */
  remove(userId: string): Promise<boolean>;
  /**
   * Sets the credential that opens the user's sessions from now on. A record that another credential opened is deleted;
   * returns whether it was live. In a shared store, `current` then ignores records of other credentials.
   */
  bind(userId: string, credential: string): Promise<boolean>;
  /** Throws `store_unavailable` if the store could not serve a login of the user now. */
  check(userId: string): Promise<void>;
}
