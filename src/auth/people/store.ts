/** What the store keeps of a person of the configuration file. */
export interface PersonRecord {
  id: string;
  email: string;
  /** Differs if the person was removed and added again. */
  mark: string;
  /** The password that the person has set, as a hash. Null: none. */
  passwordHash: string | null;
}

/** A person as the file has it. */
export type TakenPerson = Pick<PersonRecord, "id" | "email">;

/** A person as the store had it. */
export type MarkedPerson = Pick<PersonRecord, "id" | "mark">;

/** For how long a link of `people invite` works. */
export const INVITATION_MS = 3_600_000;

/**
 * Stores who is in the configuration file, besides the person of the environment. Each method is one atomic step. Every
 * method throws `store_unavailable` if the store does not answer.
 */
export interface PersonStore {
  /**
   * Takes over the people of the file. Whoever is not among them, or has another e-mail, is removed with all factors,
   * recovery codes, logins, tokens and grants, as are those of `removed`. A person who is added gets the
   * mark `mark`. Returns the ids of those who are gone: their sessions may be in another store.
   */
  take(people: readonly TakenPerson[], removed: readonly MarkedPerson[], mark: string): Promise<string[]>;
  /** Everybody who was taken over. */
  list(): Promise<PersonRecord[]>;
  /** The hash of the password that a person has set; null without one. */
  passwordHash(id: string): Promise<string | null>;
  /** Sets the password of a person, as a hash. A link is worth nothing then. False: no such person. */
  setPassword(id: string, hash: string): Promise<boolean>;
  /** Keeps the digest of a new link for a person; an earlier one is worth nothing then. False: no such person. */
  invite(id: string, digest: string, expiresAt: number): Promise<boolean>;
  /**
   * The person whom a link is for. The first browser that opens it gets it, by the digest of its cookie. Null: the link
   * is unknown, used or expired, or is that of another browser.
   */
  openInvitation(digest: string, browser: string, now: number): Promise<string | null>;
  /** Uses a link up, with the digest of the cookie of its browser. Returns the person; null as above. */
  useInvitation(digest: string, browser: string, now: number): Promise<string | null>;
}
