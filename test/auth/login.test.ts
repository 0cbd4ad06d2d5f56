import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogin } from "../../src/auth/login.ts";
import { createOpenSession } from "../../src/auth/open-session.ts";
import { createThrottle } from "../../src/auth/throttle/rules.ts";
import type { ThrottleStore } from "../../src/auth/throttle/store.ts";
import { type ConcurrencyLimit, createConcurrencyLimit, type Rank } from "../../src/lib/concurrency-limit.ts";
import { createLog } from "../../src/log.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { createSqliteThrottleStore } from "../../src/sqlite/throttle.ts";
import { tempDatabase } from "../helpers/database.ts";
import { failsWith } from "../helpers/fails-with.ts";
import { onePerson } from "../helpers/people.ts";

const USER = "user@example.com";
const HOME = "192.0.2.1";
const NOW = 1_800_000_000_000;

test("a known address gets the same rank and the same store calls for every e-mail", async (t) => {
  const { database } = tempDatabase(t);
  const people = onePerson({ email: "User@Example.com" });
  const asked: unknown[] = [];
  const ranks: (Rank | undefined)[] = [];
  const attempts = createConcurrencyLimit({ width: 1, queueLimit: 10 });
  const log = createLog("silent");
  const { sessions } = localStores(database);
  const throttle = createThrottle(recording(createSqliteThrottleStore(database), asked), people, () => NOW);
  const login = createLogin({
    personOf: people.byEmail,
    verifyPassword: async (password, _email, person) => password === "right" && person !== null,
    attempts: recordingRanks(attempts, ranks),
    throttle,
    stepsOf: (person) => ({
      needsCode: async () => false,
      checkCode: async () => null,
      openSession: createOpenSession({
        person,
        throttle,
        sessions,
        secret: "a secret of the test, 32 bytes or more",
        ttlSeconds: { api: 60, form: 60, kept: 86_400 },
        log,
        now: () => NOW,
      }),
    }),
    log,
  });
  const from = { address: HOME, requestId: "r", way: "api" as const };
  await login({ email: USER, password: "right" }, from);

  const seen: object[] = [];
  for (const email of ["nobody@example.com", USER, USER.toUpperCase()]) {
    asked.length = 0;
    ranks.length = 0;
    await failsWith("invalid_credentials", login({ email, password: "wrong" }, from));
    seen.push({ asked: [...asked], ranks: [...ranks] });
  }
  assert.deepEqual(seen[0], seen[1]);
  assert.deepEqual(seen[1], seen[2]);
  assert.deepEqual(ranks, [{ isPreferred: true, sender: HOME }]);
});

function recordingRanks(limit: ConcurrencyLimit, ranks: (Rank | undefined)[]): ConcurrencyLimit {
  return {
    run(task, rank) {
      ranks.push(rank);
      return limit.run(task, rank);
    },
  };
}

/** Records the calls, without the bucket names and attempt ids, which differ for each e-mail and attempt. */
function recording(store: ThrottleStore, asked: unknown[]): ThrottleStore {
  return {
    ...store,
    isKnown(...args) {
      asked.push(["isKnown", args]);
      return store.isKnown(...args);
    },
    retryAfterMs(buckets, now) {
      asked.push(["retryAfterMs", buckets.map(({ limit }) => limit)]);
      return store.retryAfterMs(buckets, now);
    },
    reserve(buckets, now) {
      asked.push(["reserve", buckets.map(({ limit }) => limit)]);
      return store.reserve(buckets, now);
    },
    fail(ids, now) {
      asked.push(["fail", ids.length]);
      return store.fail(ids, now);
    },
  };
}
