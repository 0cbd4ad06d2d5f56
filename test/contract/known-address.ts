import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createThrottle, type Throttle } from "../../src/auth/throttle/rules.ts";
import type { ThrottleStore } from "../../src/auth/throttle/store.ts";
import { failsWith } from "../helpers/fails-with.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const USER = "user@example.com";
const NOBODY = "nobody@example.com";
const HOME = "192.0.2.1";

const wrong = async () => false;

/** What an address that has logged in meets, on every throttle store: it must not learn which e-mail is the user's. */
export function knownAddressContract(adapter: string, open: (context: Cleanup) => Promise<ThrottleStore>): void {
  async function openThrottle(context: Cleanup): Promise<Throttle> {
    return createThrottle(await open(context), USER);
  }

  async function failTimes(throttle: Throttle, times: number, address: string, email: string): Promise<void> {
    for (let i = 0; i < times; i++) assert.equal(await throttle.attempt(address, email, wrong), false);
  }

  suite(`a known address: ${adapter}`, () => {
    test("is known at every e-mail, and strangers at none", async (t) => {
      const throttle = await openThrottle(t);
      await throttle.remember(HOME);
      for (const email of [USER, NOBODY]) {
        assert.deepEqual(await throttle.check(HOME, email), { isKnown: true });
        assert.deepEqual(await throttle.check("192.0.2.2", email), { isKnown: false });
      }
    });

    test("meets the bound of strangers at no e-mail", async (t) => {
      const throttle = await openThrottle(t);
      await throttle.remember(HOME);
      for (const email of [USER, NOBODY]) {
        for (let host = 1; host <= 10; host++) await failTimes(throttle, 10, `198.51.100.${host}`, email);
        await failsWith("too_many_attempts", throttle.check("192.0.2.2", email));
        await failTimes(throttle, 1, HOME, email);
      }
    });

    test("has ten failures at each e-mail, with those that it had as a stranger", async (t) => {
      const throttle = await openThrottle(t);
      for (const email of [USER, NOBODY]) await failTimes(throttle, 9, HOME, email);
      await throttle.remember(HOME);
      for (const email of [USER, NOBODY]) {
        await failTimes(throttle, 1, HOME, email);
        await failsWith("too_many_attempts", throttle.check(HOME, email));
        await failsWith("too_many_attempts", throttle.attempt(HOME, email, wrong));
      }
      await throttle.check(HOME, "another@example.com");
      await throttle.check("192.0.2.2", USER);
    });
  });
}
