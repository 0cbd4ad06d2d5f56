/** How far a source has caught up. Times are Unix milliseconds. */
export interface CatchUpState {
  /** When the last run began that has looked at its whole window; null before the first one. */
  coveredUntil: number | null;
  /** When the oldest event was due that has not come yet; null if there is none. */
  oldestOpen: number | null;
  /** When the last run ended. */
  ranAt: number;
  /** Why the last run was broken off; null if it was not. */
  error: string | null;
  /** Before this time the provider takes no requests; null if it does. */
  notBefore: number | null;
}

/** Something that a provider has and the store has not, or had not. Times are Unix milliseconds. */
export interface CatchUpItem {
  /** The provider's name of the event: the same for all attempts to deliver it. */
  item: string;
  /** When the provider wanted to deliver it. */
  at: number;
  /** How often the provider was asked for it. */
  tries: number;
  /** When it was asked for last, or came. */
  changedAt: number;
  /** Whether it is stored. */
  isDone: boolean;
}

/** Which items may be asked for again. */
interface TryLimits {
  now: number;
  most: number;
  /** The least time between two tries. */
  restMs: number;
}

/** Keeps how far sources have caught up. Each method is one transaction. */
export interface CatchUpStore {
  state(source: string): Promise<CatchUpState | null>;
  saveState(source: string, state: CatchUpState): Promise<void>;
  items(source: string): Promise<CatchUpItem[]>;
  /** Counts a try. Returns false, and counts none, if the item is done or its tries have reached the limits. */
  claim(source: string, item: Pick<CatchUpItem, "item" | "at">, limits: TryLimits): Promise<boolean>;
  /** Takes the last try back: the provider was not asked. */
  release(source: string, item: string): Promise<void>;
  /** Marks an item as stored. */
  finish(source: string, item: string, now: number): Promise<void>;
  /** The number of items that were due in a time. */
  missed(source: string, from: number, to: number): Promise<number>;
  /** Forgets items that were due before a time. */
  forget(source: string, before: number): Promise<void>;
}
