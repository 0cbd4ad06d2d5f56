/** A token for a program, without its value. Times are Unix milliseconds. */
export interface TokenRecord {
  name: string;
  scopes: readonly string[];
  createdAt: number;
  /** Null: never. */
  expiresAt: number | null;
  /** Null: not yet. */
  lastUsedAt: number | null;
  /** The network that used it last: an IPv4 /24 or an IPv6 /48. */
  lastNetwork: string | null;
}

/** A new token. `digest` is the SHA-256 of its value, in hexadecimal. */
export interface NewToken extends Pick<TokenRecord, "name" | "scopes" | "createdAt" | "expiresAt"> {
  digest: string;
}

/** A row of a token. The scopes are separated by spaces. */
export interface TokenRow extends Omit<TokenRecord, "scopes"> {
  scopes: string;
}

/** The record in a row. */
export function recordOf({ scopes, ...row }: TokenRow): TokenRecord {
  return { ...row, scopes: scopes.split(" ") };
}

/** A use is written only if none was for this long, so that a busy program costs no writes. */
export const USE_EVERY_MS = 60_000;

/**
 * Stores the tokens of programs. Each method is one atomic step. Every method throws `store_unavailable` if the store
 * does not answer.
 */
export interface TokenStore {
  /** Adds a token. Returns false, and changes nothing, if there is one of this name. */
  create(token: NewToken): Promise<boolean>;
  /** All tokens by name, also expired ones. */
  list(): Promise<TokenRecord[]>;
  /** The token with this digest, also an expired one. */
  find(digest: string): Promise<TokenRecord | null>;
  /** Writes that a token was used, unless one was written within {@link USE_EVERY_MS}. */
  use(name: string, at: number, network: string): Promise<void>;
  /** Removes the tokens with these names, or all. Returns the names of those that were there. */
  revoke(names: readonly string[] | "all"): Promise<string[]>;
}
