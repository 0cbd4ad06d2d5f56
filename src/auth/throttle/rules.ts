import { hash } from "node:crypto";
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import { networkOf } from "../../lib/network.ts";
import type { People, Person } from "../people/people.ts";
import { canonicalEmail } from "../user.ts";
import {
  ADDRESS_BUCKET_PREFIX,
  type Bucket,
  type BucketNames,
  CODE_BUCKET_PREFIX,
  EMAIL_BUCKET_PREFIX,
  KNOWN_ADDRESS_MS,
  NETWORK_BUCKET_PREFIX,
  type ThrottleStore,
} from "./store.ts";

/** Most failures of one address at one e-mail within the window. */
export const FAILURES_PER_ADDRESS_AND_EMAIL = 10;
/**
 * Most failures of one IPv6 network at one e-mail within the window. Four of a /48 are needed to use up those of an
 * e-mail.
 */
const FAILURES_PER_NETWORK_AND_EMAIL = [
  { bits: 56, limit: 20 },
  { bits: 48, limit: 30 },
] as const;
/** Most failures of all unknown addresses together at one e-mail within the window. */
const FAILURES_PER_EMAIL = 100;
/** Most failures of one address at all e-mails within the window. */
const FAILURES_PER_ADDRESS = 50;

/** Most wrong codes of all unknown clients together within the window: a code is one of a million. */
const WRONG_CODES = 10;

const WAIT_STEP_MS = 10;
const MAX_WAIT_MS = 5000;

/** Runs a task, after a wait if too many run already. */
export type RunTask = <T>(task: () => Promise<T>) => Promise<T>;

const runNow: RunTask = (task) => task();

/** How an attempt is made. */
interface AttemptOptions {
  runTask?: RunTask;
  browser?: string | null;
}

/**
 * Creates the throttle. E-mails are in canonical form, `now` in Unix milliseconds. While attempts in progress may reach
 * the limit, further ones wait up to 5 seconds, outside of `runTask`, and then throw `login_busy`. An error of the
 * store is also thrown to the attempts queued behind it: one after the other, each would wait for the same time-out.
 */
export function createThrottle(
  store: ThrottleStore,
  people: Pick<People, "list">,
  now: () => number = Date.now,
  monotonic = () => performance.now(),
) {
  /** The newest error of the store, and the number of errors. */
  let outages: { count: number; newest?: unknown } = { count: 0 };

  /**
   * The limits per e-mail and per wider network apply to the unknown only. Whether an address is known must not depend
   * on the e-mail it sends, or the answer would reveal who has logged in from there.
   */
  async function limitsFor(
    address: string,
    email: string,
    browser: string | null,
  ): Promise<{ isKnown: boolean; buckets: Bucket[] }> {
    if (browser !== null) return { isKnown: true, buckets: ownBuckets(`browser ${browser}`, email) };
    const { pair, email: ofEmail, networks, address: ofAddress } = bucketsFor(address, email);
    const isKnown = await isKnownAddress(store, address, people.list(), now());
    return { isKnown, buckets: isKnown ? [pair, ofAddress] : [pair, ofEmail, ...networks, ofAddress] };
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

  /** Runs an attempt. While attempts in progress hold all reservations, it waits. */
  async function whenPossible(once: () => Promise<boolean | null>): Promise<boolean> {
    const givesUpAt = monotonic() + MAX_WAIT_MS;
    for (;;) {
      const succeeded = await once();
      if (succeeded !== null) return succeeded;
      if (monotonic() >= givesUpAt) throw new AppError("login_busy", { retryAfterSeconds: 1 });
      await delay(WAIT_STEP_MS);
    }
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
    /**
     * Throws `too_many_attempts` if a limit is reached. It is called before the attempt queues for a password hash.
     * Returns whether the address or the browser has logged in within 30 days.
     */
    async check(address: string, email: string, browser: string | null = null): Promise<{ isKnown: boolean }> {
      const { isKnown, buckets } = await limitsFor(address, email, browser);
      const waitMs = await store.retryAfterMs(buckets, now());
      if (waitMs > 0) throw throttled(waitMs);
      return { isKnown };
    },

    /**
     * Runs one attempt through `runTask`. It counts as a failure unless `verify` returns true. At a limit it throws
     * `too_many_attempts` and does not call `verify`.
     */
    async attempt(
      address: string,
      email: string,
      verify: () => Promise<boolean>,
      { runTask = runNow, browser = null }: AttemptOptions = {},
    ): Promise<boolean> {
      const { buckets } = await limitsFor(address, email, browser);
      return whenPossible(() => attemptQueued(buckets, verify, runTask));
    },

    /**
     * Runs one check of a code, by a client that has the right password of a person. Those of all clients that are not
     * known to that person have one limit together. It counts as a failure unless `verify` returns true, and throws as
     * `attempt` does.
     */
    async attemptCode(
      address: string,
      person: Pick<Person, "email" | "mark">,
      verify: () => Promise<boolean>,
      browser: string | null = null,
    ): Promise<boolean> {
      // The password is right, so who it is can be told.
      if (browser !== null || (await isKnownAddress(store, address, [person], now()))) return verify();
      return whenPossible(() => attemptOnce([codeBucket(canonicalEmail(person.email))], verify));
    },

    /** The bucket that exempts an address from the limit per e-mail, once it is remembered; null if nobody has it. */
    knownBucketOf: (address: string, person: Person) => (isSomebody(address) ? knownBucket(address, person) : null),
  };
}

/**
 * Limits wrong guesses. Wrong guesses of others do not lock out an address or a browser that logged in within 30 days.
 * `browser` is the id in its mark.
 */
export type Throttle = ReturnType<typeof createThrottle>;

function throttled(retryAfterMs: number): AppError {
  return new AppError("too_many_attempts", { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)) });
}

/** All clients that no proxy names share one address, which is none. They are never known. */
const isSomebody = (address: string) => isIP(address) !== 0;

/** Whether one of these people has logged in from an address within 30 days before `now`. */
export async function isKnownAddress(
  store: ThrottleStore,
  address: string,
  people: readonly Pick<Person, "email" | "mark">[],
  now: number,
): Promise<boolean> {
  if (!isSomebody(address)) return false;
  const since = now - KNOWN_ADDRESS_MS;
  const found = await Promise.all(people.map((person) => store.isKnown(knownBucket(address, person), since)));
  return found.includes(true);
}

/** The buckets that count the failures of an address at an e-mail. */
interface Buckets extends Record<Exclude<keyof BucketNames, "networks">, Bucket> {
  networks: readonly Bucket[];
}

/** Returns the buckets that count the failures of an address at an e-mail. */
export function bucketsFor(address: string, email: string): Buckets {
  const [pair, ofAddress] = ownBuckets(networkOf(address), email);
  const networks = address.includes(":") ? FAILURES_PER_NETWORK_AND_EMAIL : [];
  return {
    pair,
    email: { bucket: EMAIL_BUCKET_PREFIX + digest(email), limit: FAILURES_PER_EMAIL },
    networks: networks.map(({ bits, limit }) => ({
      bucket: NETWORK_BUCKET_PREFIX + digest(`${networkOf(address, bits)}/${bits} ${email}`),
      limit,
    })),
    address: ofAddress,
    codes: codeBucket(email),
  };
}

const codeBucket = (email: string): Bucket => ({ bucket: CODE_BUCKET_PREFIX + digest(email), limit: WRONG_CODES });

/** The buckets of one client alone: at the e-mail, and at all e-mails. */
function ownBuckets(client: string, email: string): [pair: Bucket, all: Bucket] {
  return [
    { bucket: digest(`${client} ${email}`), limit: FAILURES_PER_ADDRESS_AND_EMAIL },
    { bucket: ADDRESS_BUCKET_PREFIX + digest(client), limit: FAILURES_PER_ADDRESS },
  ];
}

/** The bucket of an address from which a person has logged in. Whoever is removed and added again has another one. */
function knownBucket(address: string, { email, mark }: Pick<Person, "email" | "mark">): string {
  return digest(`${networkOf(address)} ${canonicalEmail(email)}${mark === "" ? "" : ` ${mark}`}`);
}

/** Buckets are named by digests: these have a fixed length and reveal no address or e-mail. */
function digest(text: string): string {
  return hash("sha256", text, "base64url");
}
