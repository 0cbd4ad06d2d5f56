import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createThrottle } from "../../../src/auth/throttle/rules.ts";
import type { Reservation } from "../../../src/auth/throttle/store.ts";
import { AppError } from "../../../src/errors.ts";
import { createConcurrencyLimit } from "../../../src/lib/concurrency-limit.ts";
import { createSqliteThrottleStore } from "../../../src/sqlite/throttle.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { onePerson } from "../../helpers/people.ts";

const EMAIL = "demo@example.com";

/** A throttle with a scripted store, and the number of reservations asked for. */
function open(t: TestContext, reserve: () => Promise<Reservation>, monotonic?: () => number) {
  let asked = 0;
  const store = createSqliteThrottleStore(tempDatabase(t).database);
  const counted = () => {
    asked++;
    return reserve();
  };
  return {
    throttle: createThrottle({ ...store, reserve: counted }, onePerson({ email: EMAIL }), Date.now, monotonic),
    asked: () => asked,
  };
}

const right = async () => true;

test("attempts queued while the store fails get its error without asking it again", async (t) => {
  const { throttle, asked } = open(t, () => Promise.reject(new AppError("store_unavailable")));
  const limit = createConcurrencyLimit({ width: 1, queueLimit: 10 });
  const attempts = Array.from({ length: 5 }, (_, n) =>
    throttle.attempt(`192.0.2.${n}`, EMAIL, right, { runTask: (task) => limit.run(task) }),
  );
  await Promise.all(attempts.map((attempt) => failsWith("store_unavailable", attempt)));
  assert.equal(asked(), 1);
  await failsWith("store_unavailable", throttle.attempt("192.0.2.1", EMAIL, right));
  assert.equal(asked(), 2, "what comes later asks again");
});

test("an attempt without a reservation gets login_busy after 5 seconds", async (t) => {
  let now = 0;
  const { throttle, asked } = open(
    t,
    async () => {
      now += 1000;
      return asked() > 50 ? { outcome: "throttled", retryAfterMs: 1 } : { outcome: "wait" };
    },
    () => now,
  );
  const error = await failsWith("login_busy", throttle.attempt("192.0.2.1", EMAIL, right));
  assert.deepEqual([error.retryAfterSeconds, asked()], [1, 5]);
});
