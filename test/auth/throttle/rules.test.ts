import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { Person } from "../../../src/auth/people/people.ts";
import { createThrottle, type RunTask, type Throttle } from "../../../src/auth/throttle/rules.ts";
import { createSqliteThrottleStore } from "../../../src/sqlite/throttle.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { rememberIn } from "../../helpers/known-address.ts";
import { onePerson } from "../../helpers/people.ts";
import { until } from "../../helpers/until.ts";

const EMAIL = "demo@example.com";
const HOME = "192.0.2.1";
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface Clock {
  now: number;
}

function open(t: TestContext): { throttle: Throttle; clock: Clock; remember(address: string): Promise<void> } {
  const clock = { now: 1_800_000_000_000 };
  const store = createSqliteThrottleStore(tempDatabase(t).database);
  const throttle = createThrottle(store, onePerson({ email: EMAIL }), () => clock.now);
  return { throttle, clock, remember: (address) => rememberIn(store, throttle, address, clock.now) };
}

const wrong = async () => false;
const right = async () => true;

async function failTimes(
  throttle: Throttle,
  times: number,
  address: string,
  email = EMAIL,
  browser: string | null = null,
) {
  for (let i = 0; i < times; i++) assert.equal(await throttle.attempt(address, email, wrong, { browser }), false);
}

/** Uses up the limit of the e-mail, from several addresses. */
async function fillEmail(throttle: Throttle, email = EMAIL): Promise<void> {
  for (let host = 1; host <= 10; host++) await failTimes(throttle, 10, `198.51.100.${host}`, email);
}

suite("the login throttle", () => {
  test("refuses the eleventh attempt of an address at an e-mail without running it", async (t) => {
    const { throttle } = open(t);
    await failTimes(throttle, 10, HOME);
    let ran = false;
    const error = await failsWith(
      "too_many_attempts",
      throttle.attempt(HOME, EMAIL, async () => {
        ran = true;
        return true;
      }),
    );
    assert.equal(ran, false);
    assert.equal(error.retryAfterSeconds, 300);
    await failsWith("too_many_attempts", throttle.check(HOME, EMAIL));
  });

  test("does not affect other addresses and other e-mails", async (t) => {
    const { throttle } = open(t);
    await failTimes(throttle, 10, HOME);
    assert.equal(await throttle.attempt("192.0.2.2", EMAIL, right), true);
    assert.equal(await throttle.attempt(HOME, "other@example.com", right), true);
  });

  test("limits the failures of an address at all e-mails, even if the address is known", async (t) => {
    const { throttle, remember } = open(t);
    await remember(HOME);
    for (let n = 0; n < 50; n++) await failTimes(throttle, 1, HOME, `fresh-${n}@example.com`);
    for (const email of ["another@example.com", EMAIL]) {
      await failsWith("too_many_attempts", throttle.check(HOME, email));
      await failsWith("too_many_attempts", throttle.attempt(HOME, email, right));
    }
    await throttle.check("192.0.2.2", EMAIL);
  });

  test("does not count successes of an address", async (t) => {
    const { throttle } = open(t);
    for (let n = 0; n < 60; n++) assert.equal(await throttle.attempt(HOME, EMAIL, right), true);
    await throttle.check(HOME, EMAIL);
  });

  test("counts failures at an unknown e-mail like those at the user's", async (t) => {
    const { throttle } = open(t);
    await failTimes(throttle, 10, HOME, "nobody@example.com");
    await failsWith("too_many_attempts", throttle.attempt(HOME, "nobody@example.com", wrong));
  });

  test("refuses the 101st attempt at an e-mail from any unknown address", async (t) => {
    const { throttle } = open(t);
    await fillEmail(throttle);
    await failsWith("too_many_attempts", throttle.attempt("203.0.113.200", EMAIL, right));
    await failsWith("too_many_attempts", throttle.check("203.0.113.201", EMAIL));
    assert.equal(await throttle.attempt("203.0.113.200", "other@example.com", right), true);
  });

  test("accepts attempts again once failures leave the window, and tells the wait in whole seconds", async (t) => {
    const { throttle, clock } = open(t);
    await failTimes(throttle, 1, HOME);
    clock.now += MINUTE;
    await failTimes(throttle, 9, HOME);
    clock.now += 4 * MINUTE - 1500;
    const error = await failsWith("too_many_attempts", throttle.check(HOME, EMAIL));
    assert.equal(error.retryAfterSeconds, 2);
    clock.now += 1500;
    await throttle.check(HOME, EMAIL);
    await failTimes(throttle, 1, HOME);
    await failsWith("too_many_attempts", throttle.check(HOME, EMAIL));
  });

  test("does not count successful attempts", async (t) => {
    const { throttle } = open(t);
    for (let i = 0; i < 30; i++) assert.equal(await throttle.attempt(HOME, EMAIL, right), true);
    await throttle.check(HOME, EMAIL);
  });

  test("counts an attempt that throws as a failure", async (t) => {
    const { throttle } = open(t);
    const broken = () => throttle.attempt(HOME, EMAIL, () => Promise.reject(new Error("hash failed")));
    for (let i = 0; i < 10; i++) await assert.rejects(broken(), /hash failed/);
    await failsWith("too_many_attempts", throttle.check(HOME, EMAIL));
  });
});

suite("parallel attempts", () => {
  test("cannot exceed the limit: of 50 wrong guesses 10 are hashed", async (t) => {
    const { throttle } = open(t);
    let hashes = 0;
    const guess = async () => {
      hashes++;
      await new Promise(setImmediate);
      return false;
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => throttle.attempt(HOME, EMAIL, guess)));
    assert.equal(hashes, 10);
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 10);
  });

  test("all succeed with the right password", async (t) => {
    const { throttle } = open(t);
    const slow = async () => {
      await new Promise(setImmediate);
      return true;
    };
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => throttle.attempt(HOME, EMAIL, slow)));
    assert.equal(outcomes.filter(Boolean).length, 50);
  });

  test("that wait for a reservation do not block other tasks", async (t) => {
    const { throttle } = open(t);
    const gate = Promise.withResolvers<boolean>();
    const holding = Array.from({ length: 10 }, () => throttle.attempt(HOME, EMAIL, () => gate.promise));
    let inTurn = 0;
    let turns = 0;
    const runTask: RunTask = async (task) => {
      inTurn++;
      turns++;
      try {
        return await task();
      } finally {
        inTurn--;
      }
    };
    const waiting = throttle.attempt(HOME, EMAIL, right, { runTask });
    await until(() => turns >= 2 && inTurn === 0);
    gate.resolve(true);
    assert.equal(await waiting, true);
    assert.deepEqual(await Promise.all(holding), Array(10).fill(true));
  });
});

suite("an address that has logged in", () => {
  test("can log in while unknown addresses keep the e-mail at its limit", async (t) => {
    const { throttle, remember } = open(t);
    await remember(HOME);
    await fillEmail(throttle);
    await throttle.check(HOME, EMAIL);
    assert.equal(await throttle.attempt(HOME, EMAIL, right), true);
    await failsWith("too_many_attempts", throttle.check("192.0.2.2", EMAIL));
  });

  test("keeps its own limit of ten failures", async (t) => {
    const { throttle, remember } = open(t);
    await remember(HOME);
    await failTimes(throttle, 10, HOME);
    await failsWith("too_many_attempts", throttle.attempt(HOME, EMAIL, right));
  });

  test("is unknown once the user has another e-mail", async (t) => {
    const store = createSqliteThrottleStore(tempDatabase(t).database);
    await rememberIn(
      store,
      createThrottle(store, onePerson({ email: "former@example.com" })),
      HOME,
      Date.now(),
      "former@example.com",
    );
    const throttle = createThrottle(store, onePerson({ email: EMAIL }));
    assert.deepEqual(await throttle.check(HOME, EMAIL), { isKnown: false });
    await fillEmail(throttle);
    await failsWith("too_many_attempts", throttle.check(HOME, EMAIL));
  });

  test("is known for 30 days", async (t) => {
    const { throttle, clock, remember } = open(t);
    await remember(HOME);
    clock.now += 30 * DAY;
    await fillEmail(throttle);
    await throttle.check(HOME, EMAIL);
    clock.now += 1;
    await failsWith("too_many_attempts", throttle.check(HOME, EMAIL));
  });
});

suite("an IPv6 customer", () => {
  test("shares one limit in the whole /64", async (t) => {
    const { throttle } = open(t);
    for (let host = 1; host <= 10; host++) await failTimes(throttle, 1, `2001:db8:0:1::${host.toString(16)}`);
    await failsWith("too_many_attempts", throttle.check("2001:db8:0:1:ffff:ffff:ffff:ffff", EMAIL));
    await throttle.check("2001:db8:0:2::1", EMAIL);
  });

  test("has at most 20 failures from a /56 at an e-mail, and 30 from a /48", async (t) => {
    const { throttle } = open(t);
    await failTimes(throttle, 10, "2001:db8:5:100::1");
    await failTimes(throttle, 10, "2001:db8:5:1ff::1");
    await failsWith("too_many_attempts", throttle.check("2001:db8:5:180::1", EMAIL));
    await failTimes(throttle, 10, "2001:db8:5:200::1");
    await failsWith("too_many_attempts", throttle.check("2001:db8:5:ff00::1", EMAIL));
    await throttle.check("2001:db8:5:ff00::1", "other@example.com");
    await throttle.check("2001:db8:6::1", EMAIL);
  });

  test("cannot use up the failures of an e-mail from one /48", async (t) => {
    const { throttle } = open(t);
    for (let n = 0; n < 200; n++)
      await throttle.attempt(`2001:db8:5:${(n * 128).toString(16)}::1`, EMAIL, wrong).catch(() => {});
    await throttle.check("203.0.113.200", EMAIL);
    await throttle.check("2001:db8:6::1", EMAIL);
  });

  test("that has logged in is not locked out by others in its /48", async (t) => {
    const { throttle, remember } = open(t);
    const own = "2001:db8:5:7::1";
    await remember(own);
    for (const other of ["1::1", "2::1", "200::1"]) await failTimes(throttle, 10, `2001:db8:5:${other}`);
    assert.equal(await throttle.attempt(own, EMAIL, right), true);
  });
});

suite("a browser that has logged in", () => {
  test("can log in from anywhere while others keep the e-mail, and its address, at the limit", async (t) => {
    const { throttle } = open(t);
    await fillEmail(throttle);
    assert.deepEqual(await throttle.check("198.51.100.1", EMAIL, "b1"), { isKnown: true });
    assert.equal(await throttle.attempt("198.51.100.1", EMAIL, right, { browser: "b1" }), true);
  });

  test("keeps its own limits, wherever it is, and others keep theirs", async (t) => {
    const { throttle } = open(t);
    for (let n = 1; n <= 10; n++) await failTimes(throttle, 1, `192.0.2.${n}`, EMAIL, "b1");
    await failsWith("too_many_attempts", throttle.attempt(HOME, EMAIL, right, { browser: "b1" }));
    for (let n = 0; n < 40; n++) await failTimes(throttle, 1, HOME, `fresh-${n}@example.com`, "b1");
    await failsWith("too_many_attempts", throttle.check(HOME, "another@example.com", "b1"));
    await throttle.check(HOME, EMAIL, "b2");
    await throttle.check(HOME, EMAIL);
  });
});

test("a client without an address is never known", async (t) => {
  const { throttle } = open(t);
  assert.equal(throttle.knownBucketOf("unknown", onePerson().list()[0] as Person), null);
  assert.deepEqual(await throttle.check("unknown", EMAIL), { isKnown: false });
});
