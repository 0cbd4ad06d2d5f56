import { hash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import { networkOf } from "../../lib/network.ts";
import {
  ADDRESS_BUCKET_PREFIX,
  type Bucket,
  type BucketNames,
  EMAIL_BUCKET_PREFIX,
  KNOWN_ADDRESS_MS,
  type ThrottleStore,
} from "./store.ts";

/** Failures within the window that one address has at one e-mail. */
export const FAILURES_PER_ADDRESS_AND_EMAIL = 10;
/** Failures within the window that all strangers have together at one e-mail. */
const FAILURES_PER_EMAIL = 100;
/** Failures within the window that one address has at all e-mails. */
const FAILURES_PER_ADDRESS = 50;

const WAIT_STEP_MS = 10;
const MAX_WAIT_MS = 5000;

/** Runs a task when it is its turn. */
export type InTurn = <T>(task: () => Promise<T>) => Promise<T>;

/** Bounds wrong guesses without letting anybody lock the owner out. */
export interface Throttle {
  /**
   * Throws `too_many_attempts` when a bound is reached; runs before the attempt waits for a place to hash. Tells whether
   * the address has logged in within 30 days.
   */
  check(address: string, email: string): Promise<{ isKnown: boolean }>;
  /**
   * Runs one attempt, in a turn of its own; it counts unless it returns true. Throws `too_many_attempts` without running
   * it at the bound.
   */
  attempt(address: string, email: string, verify: () => Promise<boolean>, inTurn?: InTurn): Promise<boolean>;
  /** Lets the address answer only for itself for 30 days. */
  remember(address: string): Promise<void>;
}

/**
 * Creates the throttle on a store of counts; all e-mails in canonical form, `now` in Unix milliseconds. An attempt that finds
 * every place taken by others under way waits up to 5 seconds for one, outside of its turn, and then is `login_busy`. What
 * the store throws is passed on, also to all that wait for their turn: one after the other they would wait for the same.
 */
export function createThrottle(store: ThrottleStore, userEmail: string, now: () => number = Date.now): Throttle {
  /** The newest failure of the store, and how many there were. */
  let outages: { count: number; newest?: unknown } = { count: 0 };

  /**
   * The per-e-mail bound is for strangers: an address that has logged in answers only for itself. Which it is must not
   * depend on the e-mail that it sends, or it would be told which one is the user's.
   */
  async function bucketsOf(address: string, email: string): Promise<{ isKnown: boolean; buckets: Bucket[] }> {
    const { pair, email: ofEmail, address: ofAddress } = bucketsFor(address, email);
    const isKnown = await store.isKnown(pairBucket(address, userEmail), now() - KNOWN_ADDRESS_MS);
    return { isKnown, buckets: isKnown ? [pair, ofAddress] : [pair, ofEmail, ofAddress] };
  }

  /** Returns null, without running the attempt, while others under way hold all places. */
  async function attemptOnce(buckets: Bucket[], verify: () => Promise<boolean>): Promise<boolean | null> {
    const reservation = await store.reserve(buckets, now());
    if (reservation.outcome === "throttled") throw throttled(reservation.retryAfterMs);
    if (reservation.outcome === "wait") return null;
    let succeeded = false;
    try {
      succeeded = await verify();
    } finally {
      if (succeeded) await store.release(reservation.ids);
      else await store.fail(reservation.ids, now());
    }
    return succeeded;
  }

  async function attemptInTurn(buckets: Bucket[], verify: () => Promise<boolean>, inTurn: InTurn) {
    const before = outages.count;
    return inTurn(async () => {
      if (outages.count > before) throw outages.newest;
      try {
        return await attemptOnce(buckets, verify);
      } catch (error) {
        if (error instanceof AppError && error.code === "store_unavailable")
          outages = { count: outages.count + 1, newest: error };
        throw error;
      }
    });
  }

  return {
    async check(address, email) {
      const { isKnown, buckets } = await bucketsOf(address, email);
      const waitMs = await store.retryAfterMs(buckets, now());
      if (waitMs > 0) throw throttled(waitMs);
      return { isKnown };
    },

    async attempt(address, email, verify, inTurn = (task) => task()) {
      const { buckets } = await bucketsOf(address, email);
      const givesUpAt = now() + MAX_WAIT_MS;
      for (;;) {
        const succeeded = await attemptInTurn(buckets, verify, inTurn);
        if (succeeded !== null) return succeeded;
        if (now() >= givesUpAt) throw new AppError("login_busy", { retryAfterSeconds: 1 });
        await delay(WAIT_STEP_MS);
      }
    },

    remember(address) {
      return store.remember(pairBucket(address, userEmail), now());
    },
  };
}

function throttled(retryAfterMs: number): AppError {
  return new AppError("too_many_attempts", { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) });
}

/** The buckets in which failures of an address at an e-mail are counted. */
export function bucketsFor(address: string, email: string): Record<keyof BucketNames, Bucket> {
  return {
    pair: { bucket: pairBucket(address, email), limit: FAILURES_PER_ADDRESS_AND_EMAIL },
    email: { bucket: EMAIL_BUCKET_PREFIX + digest(email), limit: FAILURES_PER_EMAIL },
    address: { bucket: ADDRESS_BUCKET_PREFIX + digest(networkOf(address)), limit: FAILURES_PER_ADDRESS },
  };
}

function pairBucket(address: string, email: string): string {
  return digest(`${networkOf(address)} ${email}`);
}

/** Buckets are digests: of bounded length, and the store holds no address and no e-mail. */
function digest(text: string): string {
  return hash("sha256", text, "base64url");
}
