/** The active-session record of a user. */
export interface SessionRecord {
  sid: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** Where a login came from, as coarsely as the user's other devices may learn it. */
export interface LoginOrigin {
  /** An IPv4 /24 or an IPv6 /48. */
  network: string;
  /** The name of the user agent's product. */
  userAgent: string | null;
}

/** What ended a session: a later login. */
export interface Supersession {
  /** Unix milliseconds. */
  at: number;
  by: LoginOrigin;
}

/**
 * Where the one active session of each user is kept. Each method is one atomic step; reads never write.
 * A store that cannot answer throws `store_unavailable`.
 */
export interface SessionStore {
  /**
   * Writes the user's record, in place of any earlier one. Returns whether a live one was replaced.
   * When the login's origin is given, the replaced session's supersession is kept for the rest of its lifetime.
   */
  replace(userId: string, sid: string, ttlSeconds: number, origin?: LoginOrigin): Promise<boolean>;
  /** The session identifier of the user's live record. */
  current(userId: string): Promise<string | null>;
  /** The user's live record with its expiry. */
  find(userId: string): Promise<SessionRecord | null>;
  /** How a session was superseded; null when it ended another way, or its lifetime has passed. */
  supersession(userId: string, sid: string): Promise<Supersession | null>;
  /** Deletes the record if it still holds this sid. Returns whether it did. */
  removeIf(userId: string, sid: string): Promise<boolean>;
  /** Deletes the record whatever it holds. Returns whether a live one was there. */
  remove(userId: string): Promise<boolean>;
  /**
   * Names the credential that opens the user's sessions from now on. A record that another one opened is deleted;
   * returns whether a live one was. Where processes share the store, `current` then knows no record of another one.
   */
  bind(userId: string, credential: string): Promise<boolean>;
  /** Throws `store_unavailable` when the store does not answer, or takes no login of the user. */
  check(userId: string): Promise<void>;
}
