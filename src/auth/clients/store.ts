import type { LoginMethod } from "../factors/store.ts";

/** What a person has granted to an app, in a session. Times are Unix milliseconds. */
export interface Grant {
  /** The name of the client. */
  client: string;
  userId: string;
  /** The session of the login page. */
  sid: string;
  /** The granted scopes, separated by spaces. */
  scope: string;
  /** When the person logged in. */
  authenticatedAt: number;
  /** How; null if that is unknown. */
  method: LoginMethod | null;
  /** What the app sent to recognize its ID token; null if nothing. */
  nonce: string | null;
}

/** An authorization code. `digest` is the SHA-256 of its value, in hexadecimal. */
export interface AuthorizationCode extends Grant {
  digest: string;
  redirectUri: string;
  /** The S256 challenge of PKCE; null without one. */
  challenge: string | null;
  expiresAt: number;
}

/** A token that an app got. `digest` is the SHA-256 of its value, in hexadecimal. */
export interface ClientToken extends Grant {
  digest: string;
  kind: "access" | "refresh";
  /** Of all tokens that came from one code: the digest of that code. */
  family: string;
  issuedAt: number;
  expiresAt: number;
}

/** That an app takes part in a session, until it was told of its end. */
export interface Participation {
  client: string;
  userId: string;
  sid: string;
  since: number;
  /** How often the app was told of the end. */
  attempts: number;
  /** When it is to be told next; 0 if it was not told yet. */
  dueAt: number;
  /** Why it could not be told the last time; null if nothing failed. */
  error: string | null;
}

/** That an app could not be told of the end of a session. */
export interface FailedLogout extends Participation {
  failedAt: number;
}

/** What became of an attempt to tell an app of the end of a session. */
export type LogoutOutcome =
  | { to: "done" }
  | { to: "again"; dueAt: number; error: string }
  | { to: "failed"; error: string };

/** Most rows of a kind that one purge removes. */
export const MAX_PURGED = 1000;

/**
 * Stores what apps were granted, and in which sessions they take part. Each method is one atomic step. Every method
 * throws `store_unavailable` if the store does not answer.
 *
 * A participation whose session is no longer the live one is a logout to be delivered. It was written before the app
 * got its tokens, so no end of a session can be lost, whichever store has the session.
 */
export interface ClientStore {
  /** Adds a code. */
  addCode(code: AuthorizationCode): Promise<void>;
  /**
   * Uses a code up, once. The second use revokes its family (RFC 6749, 4.1.2). Null: it is unknown, was used before, or
   * its session has ended. An expired code is returned: the caller compares its time.
   */
  useCode(digest: string): Promise<AuthorizationCode | null>;
  /**
   * Adds the first tokens of a family, and notes that their app takes part in their session. False, and nothing is
   * added: their code was not used, their family was revoked meanwhile, or the app was told that the session has ended.
   */
  addTokens(tokens: readonly ClientToken[]): Promise<boolean>;
  /** The token with this digest, also an expired one. A refresh token that was used is not found. */
  findToken(digest: string): Promise<ClientToken | null>;
  /**
   * Uses a refresh token up, and adds those that take its place. False, and nothing is added: it is unknown, or was
   * used before. A second use revokes the whole family.
   */
  rotate(digest: string, next: readonly ClientToken[]): Promise<boolean>;
  /** Removes all tokens of a family. It gets no others. */
  revokeFamily(family: string): Promise<void>;
  /**
   * Removes the tokens of a session, except those of some clients. Its unused codes become useless.
   */
  removeOfSession(sid: string, exceptOf: readonly string[]): Promise<void>;
  /** The scopes that the user has consented to for a client; null if none. */
  consent(userId: string, client: string): Promise<string | null>;
  /** Keeps the scopes that the user has consented to for a client. */
  setConsent(userId: string, client: string, scope: string, at: number): Promise<void>;
  /** Removes the consent of a client. */
  removeConsent(userId: string, client: string): Promise<void>;
  /** The participations in open sessions, and those whose end has still to be told: neither done nor failed. */
  participations(): Promise<Participation[]>;
  /** Participations whose app could not be told, the newest first. */
  failedLogouts(): Promise<FailedLogout[]>;
  /** Writes what became of telling an app. */
  settleLogout(of: Pick<Participation, "client" | "sid">, outcome: LogoutOutcome, at: number): Promise<void>;
  /** Lets failed ones of a client be told again, from the first attempt on; null: of all. Returns how many. */
  retryLogouts(client: string | null): Promise<number>;
  /**
   * Removes codes and tokens that expired before a time, and participations that were done or failed before it: at most
   * {@link MAX_PURGED} of each. A code stays as long as a token of its family. Returns whether there may be more.
   */
  purge(before: number): Promise<boolean>;
  /** The keys that sign ID tokens, the oldest first. */
  signingKeys(): Promise<StoredSigningKey[]>;
  /** Adds a key, unless its id is there. */
  addSigningKey(key: SigningKeyRecord): Promise<void>;
  /** Removes keys. */
  removeSigningKeys(ids: readonly string[]): Promise<void>;
}

/** A key that signs ID tokens. */
export interface SigningKeyRecord {
  id: string;
  algorithm: "RS256" | "ES256";
  /** The private key as JWK text. Stores encrypt it, if there are encryption keys. */
  privateKey: string;
  createdAt: number;
  /** From when it signs. It is published before. */
  signsFrom: number;
}

/** A key as it is read. One that cannot be opened has a fault: the end of a sentence about it. */
export type StoredSigningKey = Omit<SigningKeyRecord, "privateKey"> &
  ({ privateKey: string; fault: null } | { privateKey: null; fault: string });
