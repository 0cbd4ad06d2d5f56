/** A subscription of a provider that ends. Times are Unix milliseconds. */
export interface Subscription {
  /** The provider's id of it; null if it is not known yet. */
  id: string | null;
  /** What the provider needs besides to end it. */
  resource: string | null;
  startedAt: number;
  expiresAt: number;
  /** When it was renewed, or that was tried, last. */
  triedAt: number;
  /** Why the last renewal failed; null if it did not. */
  error: string | null;
}

/** Keeps the subscriptions of sources. Each method is one transaction. */
export interface SubscriptionStore {
  read(source: string): Promise<Subscription | null>;
  save(source: string, subscription: Subscription): Promise<void>;
}
