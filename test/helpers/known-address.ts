import type { Throttle } from "../../src/auth/throttle/rules.ts";
import type { ThrottleStore } from "../../src/auth/throttle/store.ts";

/** Stores that an address has logged in, as a login does. */
export async function rememberIn(store: ThrottleStore, throttle: Throttle, address: string, now = Date.now()) {
  const bucket = throttle.knownBucketOf(address);
  if (bucket !== null) await store.remember(bucket, now);
}
