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

/** Most failures of one address at one e-mail within the window. */
export const FAILURES_PER_ADDRESS_AND_EMAIL = 10;
/** Most failures of all unknown addresses together at one e-mail within the window. */
const FAILURES_PER_EMAIL = 100;
/** Most failures of one address at all e-mails within the window. */
const FAILURES_PER_ADDRESS = 50;

const WAIT_STEP_MS = 10;
const MAX_WAIT_MS = 5000;

/** Runs a task, after a wait if too many run already. */
export type RunTask = <T>(task: () => Promise<T>) => Promise<T>;

/** Limits wrong guesses. Nobody can use it to lock the owner out. */
export interface Throttle {
  /**
   * Throws `too_many_attempts` if a limit is reached. It is called before the attempt queues for a password hash. Returns
   * whether the address has logged in within 30 days.
   */
  check(address: string, email: string): Promise<{ isKnown: boolean }>;
  /**
   * Runs one attempt through `runTask`. It counts as a failure unless `verify` returns true. At a limit it throws
   * `too_many_attempts` and does not call `verify`.
   */
  attempt(address: string, email: string, verify: () => Promise<boolean>, runTask?: RunTask): Promise<boolean>;
  /** Exempts the address from the limit per e-mail for 30 days. */
  remember(address: string): Promise<void>;
}

/**
 * Creates the throttle. E-mails are in canonical form, `now` in Unix milliseconds. While attempts in progress may reach the
 * limit, further ones wait up to 5 seconds, outside of `runTask`, and then throw `login_busy`. An error of the store is also
 * thrown to the attempts queued behind it: one after the other, each would wait for the same time-out.
 */
export function createThrottle(
  store: ThrottleStore,
  userEmail: string,
  now: () => number = Date.now,
  monotonic = () => performance.now(),
): Throttle {
  /** The newest error of the store, and the number of errors. */
  let outages: { count: number; newest?: unknown } = { count: 0 };

  /**
   * The limit per e-mail applies to unknown addresses only. Whether an address is known must not depend on the e-mail it
   * sends, or the answer would reveal the user's e-mail.
   */
  async function limitsFor(address: string, email: string): Promise<{ isKnown: boolean; buckets: Bucket[] }> {
    const { pair, email: ofEmail, address: ofAddress } = bucketsFor(address, email);
    const isKnown = await store.isKnown(pairBucket(address, userEmail), now() - KNOWN_ADDRESS_MS);
    return { isKnown, buckets: isKnown ? [pair, ofAddress] : [pair, ofEmail, ofAddress] };
  }

  /** Returns null, without running the attempt, while attempts in progress hold all reservations. */
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

  async function attemptQueued(buckets: Bucket[], verify: () => Promise<boolean>, runTask: RunTask) {
    const before = outages.count;
    return runTask(async () => {
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
      const { isKnown, buckets } = await limitsFor(address, email);
      const waitMs = await store.retryAfterMs(buckets, now());
      if (waitMs > 0) throw throttled(waitMs);
      return { isKnown };
    },

    async attempt(address, email, verify, runTask = (task) => task()) {
      const { buckets } = await limitsFor(address, email);
      const givesUpAt = monotonic() + MAX_WAIT_MS;
      for (;;) {
        const succeeded = await attemptQueued(buckets, verify, runTask);
        if (succeeded !== null) return succeeded;
        if (monotonic() >= givesUpAt) throw new AppError("login_busy", { retryAfterSeconds: 1 });
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

/** Returns the buckets that count the failures of an address at an e-mail. */
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

/** Buckets are named by digests: these have a fixed length and reveal no address or e-mail. */
function digest(text: string): string {
  return hash("sha256", text, "base64url");
}
