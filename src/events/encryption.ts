/** Asks for the next rows of a table that are not encrypted with the first key: from this event, delivery or time. */
export interface ResealRequest {
  table: string;
  from: number;
  limit: number;
}

/** What was done. `next` is where the next page begins; null at the end of the table. */
export interface ResealedPage {
  changed: number;
  /** Rows that no key opens, because they are damaged. */
  unreadable: number;
  next: number | null;
}

/** Knows with which keys the rows of a store are encrypted. */
export interface EncryptionStore {
  /** The tables with rows that are encrypted. */
  tables: readonly string[];
  /** The keys that the store has noted, and that this process does not have. */
  missingKeys(): Promise<string[]>;
  /** Whether the store has noted the first key of this process, as each server does at its start. */
  isFirstKeyNoted(): Promise<boolean>;
  /** Encrypts a page of rows with the first key. Rows whose key is missing stay. */
  reseal(request: ResealRequest): Promise<ResealedPage>;
  /** Forgets the keys that no row needs any more. Returns how many rows need each missing key. */
  forgetKeys(): Promise<Record<string, number>>;
  /** Removes traces of what was encrypted. False while another program uses the store: then some may stay. */
  clean(): Promise<boolean>;
}

/** Says which keys this process lacks. */
export const missingKeysText = (keys: readonly string[]) =>
  `payloads or signing keys may be encrypted with ${keys.join(", ")}: add the file of each to ENCRYPTION_KEYS`;
