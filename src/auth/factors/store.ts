/** What proves a login besides the password. A passkey proves it alone. */
type FactorKind = "passkey" | "totp";

/** A new factor. */
export interface NewFactor {
  id: string;
  kind: FactorKind;
  /** The name that the user gave it. */
  name: string;
  /** What verifies it, as JSON: the public key of a passkey, or the secret of TOTP. */
  data: string;
  /** The signature counter of a passkey; 0 if it has none. */
  counter: number;
  /** Unix milliseconds. */
  createdAt: number;
}

/** A factor as it is stored. */
export interface FactorRecord extends NewFactor {
  /** Unix milliseconds. Null: not yet. */
  lastUsedAt: number | null;
}

/** How a login was proved. */
export type LoginMethod = "password" | "totp" | "recovery_code" | "passkey";

/** A login that succeeded. */
export interface LoginRecord {
  /** The session that it opened. */
  sid: string;
  /** Unix milliseconds. */
  at: number;
  /** An IPv4 /24 or an IPv6 /48. */
  network: string;
  /** The product name of the user agent. */
  userAgent: string | null;
  method: LoginMethod;
}

/** Most factors of a person. */
export const MAX_FACTORS = 20;

/** How many logins are kept. */
export const KEPT_LOGINS = 50;

/** For how long a network is known after a login from it. */
export const KNOWN_NETWORK_MS = 30 * 86_400_000;

/**
 * Stores the second factors of one person, and the recent logins. Each method is one atomic step. Every method throws
 * `store_unavailable` if the store does not answer.
 */
export interface FactorStore {
  /** The factors, the oldest first. */
  list(): Promise<FactorRecord[]>;
  /**
   * Adds a factor. Returns false, and changes nothing, if there is one with this id, or if there are
   * {@link MAX_FACTORS}.
   */
  add(factor: NewFactor): Promise<boolean>;
  /**
   * Removes the factors with these ids, or all. Returns the ids of those that were there. The recovery codes go with
   * the last factor.
   */
  remove(ids: readonly string[] | "all"): Promise<string[]>;
  /**
   * Writes that a factor was used, with its new counter. Returns false, and changes nothing, if the factor is gone or
   * the counter has not grown. A factor without a counter always has 0, and one that may lose its counter may have it
   * again.
   */
  use(id: string, counter: number, at: number, mayLoseCounter?: boolean): Promise<boolean>;
  /** Replaces the recovery codes, given as digests. */
  setRecoveryCodes(digests: readonly string[]): Promise<void>;
  /** Uses up a recovery code. Returns false if there is none with this digest. */
  spendRecoveryCode(digest: string): Promise<boolean>;
  /** How many recovery codes are left. */
  recoveryCodesLeft(): Promise<number>;
  /** Uses up what works once, until `expiresAt`. Returns false if it was used before. */
  spend(id: string, expiresAt: number, now: number): Promise<boolean>;
  /**
   * Writes a login. Its network is new if nobody logged in from there for {@link KNOWN_NETWORK_MS}, unless this is the
   * first login of all.
   */
  addLogin(login: LoginRecord): Promise<void>;
  /** The newest {@link KEPT_LOGINS} logins, the newest first. */
  logins(): Promise<LoginRecord[]>;
}

/** The same for several people: each method has the account of one before its own arguments. */
type OfAccounts = {
  [Method in keyof FactorStore]: (
    account: string,
    ...args: Parameters<FactorStore[Method]>
  ) => ReturnType<FactorStore[Method]>;
};

/** A factor, and whose it is. */
export interface OwnedFactor extends FactorRecord {
  account: string;
}

/** Stores the second factors and logins of everybody. */
export interface FactorStores extends Omit<OfAccounts, "spend">, Pick<FactorStore, "spend"> {
  /** The factors of everybody, the oldest first. */
  listAll(): Promise<OwnedFactor[]>;
  /** The first login from each network that became new for a person at or after a time, the newest first. */
  loginsFromNewNetworks(since: number): Promise<(Pick<LoginRecord, "sid" | "at" | "network"> & { account: string })[]>;
}

/** The factors of one person, and nothing of others. */
export const factorsOf = (stores: FactorStores, account: string): FactorStore => ({
  list: () => stores.list(account),
  add: (factor) => stores.add(account, factor),
  remove: (ids) => stores.remove(account, ids),
  use: (...args) => stores.use(account, ...args),
  setRecoveryCodes: (digests) => stores.setRecoveryCodes(account, digests),
  spendRecoveryCode: (digest) => stores.spendRecoveryCode(account, digest),
  recoveryCodesLeft: () => stores.recoveryCodesLeft(account),
  spend: (...args) => stores.spend(...args),
  addLogin: (login) => stores.addLogin(account, login),
  logins: () => stores.logins(account),
});
