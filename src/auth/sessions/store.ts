/** The active-session record of a user. */
export interface SessionRecord {
  sid: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/**
 * Where the one active session of each user is kept. Each method is one atomic step; reads never write.
 * A store that cannot answer throws `store_unavailable`.
 */
export interface SessionStore {
  /** Writes the user's record, in place of any earlier one. Returns whether a live one was replaced. */
  replace(userId: string, sid: string, ttlSeconds: number): Promise<boolean>;
  /** The session identifier of the user's live record. */
  current(userId: string): Promise<string | null>;
  /** The user's live record with its expiry. */
  find(userId: string): Promise<SessionRecord | null>;
  /** Deletes the record if it still holds this sid. Returns whether it did. */
  removeIf(userId: string, sid: string): Promise<boolean>;
  /** Deletes the record whatever it holds. Returns whether a live one was there. */
  remove(userId: string): Promise<boolean>;
  /** Throws `store_unavailable` when the store does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}
