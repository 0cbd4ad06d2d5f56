import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createThrottle, type Throttle } from "../../src/auth/throttle/rules.ts";
import type { ThrottleStore } from "../../src/auth/throttle/store.ts";
import { failsWith } from "../helpers/fails-with.ts";
import { rememberIn } from "../helpers/known-address.ts";
import { onePerson } from "../helpers/people.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const USER = "user@example.com";
const NOBODY = "nobody@example.com";
const HOME = "192.0.2.1";

const wrong = async () => false;

/** The limits of an address that has logged in, on every throttle store. They must not reveal the user's e-mail. */
export function knownAddressContract(adapter: string, open: (context: Cleanup) => Promise<ThrottleStore>): void {
  async function openThrottle(context: Cleanup) {
    const store = await open(context);
    const throttle = createThrottle(store, onePerson({ email: USER }));
    return { throttle, remember: (address: string) => rememberIn(store, throttle, address, Date.now(), USER) };
  }

  async function failTimes(throttle: Throttle, times: number, address: string, email: string): Promise<void> {
    for (let i = 0; i < times; i++) assert.equal(await throttle.attempt(address, email, wrong), false);
  }

  suite(`a known address: ${adapter}`, () => {
    test("is known for every e-mail, and other addresses are known for none", async (t) => {
      const { throttle, remember } = await openThrottle(t);
      await remember(HOME);
      for (const email of [USER, NOBODY]) {
        assert.deepEqual(await throttle.check(HOME, email), { isKnown: true });
        assert.deepEqual(await throttle.check("192.0.2.2", email), { isKnown: false });
      }
    });

    test("is not subject to the limit of unknown addresses, for any e-mail", async (t) => {
      const { throttle, remember } = await openThrottle(t);
      await remember(HOME);
      for (const email of [USER, NOBODY]) {
        for (let host = 1; host <= 10; host++) await failTimes(throttle, 10, `198.51.100.${host}`, email);
        await failsWith("too_many_attempts", throttle.check("192.0.2.2", email));
        await failTimes(throttle, 1, HOME, email);
      }
    });

    test("may fail ten times for each e-mail, including its failures before it was known", async (t) => {
      const { throttle, remember } = await openThrottle(t);
      for (const email of [USER, NOBODY]) await failTimes(throttle, 9, HOME, email);
      await remember(HOME);
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
