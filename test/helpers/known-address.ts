import type { Person } from "../../src/auth/people/people.ts";
import type { Throttle } from "../../src/auth/throttle/rules.ts";
import type { ThrottleStore } from "../../src/auth/throttle/store.ts";
import { onePerson } from "./people.ts";

const person = onePerson().list()[0] as Person;

/** Stores that somebody has logged in from an address, as a login does. */
export async function rememberIn(
  store: ThrottleStore,
  throttle: Throttle,
  address: string,
  now = Date.now(),
  email = "demo@example.com",
) {
  const bucket = throttle.knownBucketOf(address, { ...person, email });
  if (bucket !== null) await store.remember(bucket, now);
}
