import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AlertName } from "../../src/alerts/alert.ts";
import type { WatchedSubscription } from "../../src/alerts/missed.ts";
import { type AlertRules, DEFAULT_RULES, type Facts, findingsOf, type WatchedSource } from "../../src/alerts/rules.ts";
import type { Samples } from "../../src/alerts/samples.ts";

// The beginning of a minute.
const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const DAY = 86_400_000;
const GIB = 1024 ** 3;

/** Facts of a server that is well, with some members set by the test. */
const facts = (changes: Partial<Facts> = {}): Facts => ({
  now: NOW,
  backlog: { queued: 0, oldestQueuedAt: null, unreadable: 0 },
  routes: [],
  attempts: [],
  sources: [],
  disk: { freeBytes: 100 * GIB, minFreeBytes: GIB, isPaused: false },
  certificateEndsAt: null,
  tokens: [],
  newLogins: [],
  logouts: [],
  parts: [],
  refused: {},
  writeError: null,
  missed: [],
  subscriptions: [],
  ...changes,
});

const source = (changes: Partial<WatchedSource> = {}): WatchedSource => ({
  name: "shop",
  expectEveryMs: null,
  lastReceivedAt: null,
  oldSecret: null,
  ...changes,
});

/** A time of so many minutes in which deliveries of a source were missed. */
const missed = (minutes: number, name = "code") => ({
  source: name,
  from: NOW - DAY,
  to: NOW - DAY + minutes * MINUTE,
  reason: "the server did not run",
  remedy: `authserve sources catch-up ${name}`,
});

const subscription = (changes: Partial<WatchedSubscription> = {}): WatchedSubscription => ({
  source: "mail",
  expiresAt: NOW + 30 * DAY,
  lifeMs: null,
  error: null,
  ...changes,
});

const attempts = (failed: number, all: number, route = "all") => ({ at: NOW - MINUTE, route, failed, all });

/** A queue that has grown by one every 5 seconds. */
const GROWN: Samples = Array.from({ length: 181 }, (_, n) => ({
  at: NOW - (180 - n) * 5000,
  queued: n,
  attempts: [],
}));

const find = (changes: Partial<Facts>, rules: Partial<AlertRules> = {}, samples: Samples = GROWN.slice(-1)) =>
  findingsOf(facts(changes), { ...DEFAULT_RULES, ...rules }, samples);

const namesOf = (...parameters: Parameters<typeof find>) => find(...parameters).conditions.map(({ name }) => name);

test("a paused route is named, and its events are not old", () => {
  const routes = [{ route: "billing", failed: 0, queued: 3, pausedAt: NOW - 2 * 60 * MINUTE }];
  assert.deepEqual(namesOf({ backlog: { queued: 3, oldestQueuedAt: null, unreadable: 0 }, routes }), []);
  const [old] = find({ backlog: { queued: 4, oldestQueuedAt: NOW - 6 * MINUTE, unreadable: 0 }, routes }).conditions;
  assert.equal(old?.summary, "an event has been queued for 6 min; others wait: 3 of the route billing, paused for 2 h");
  const { unknown } = find({ backlog: { queued: 4, oldestQueuedAt: "unknown", unreadable: 0 }, routes });
  assert.ok(unknown.has("AuthserveQueueOld"));
});

test("nothing is wrong with a server that is well", () => {
  assert.deepEqual(namesOf({}), []);
});

suite("an alert fires beyond its bound and not at it, with the defaults:", () => {
  const token = (leftMs: number) => ({
    tokens: [
      { name: "ci", expiresAt: NOW + leftMs },
      { name: "never", expiresAt: null },
    ],
  });
  const newLogin = (agoMs: number) => ({
    newLogins: [{ account: "", network: "192.0.2.0/24", at: NOW - agoMs, endUrl: null }],
  });
  const certificate = (leftMs: number) => ({ certificateEndsAt: NOW + leftMs });
  const disk = (freeBytes: number) => ({ disk: { freeBytes, minFreeBytes: GIB, isPaused: false } });
  const queued = (ageMs: number) => ({ backlog: { queued: 1, oldestQueuedAt: NOW - ageMs, unreadable: 0 } });
  const ends = (changes: Partial<WatchedSubscription>) => ({ subscriptions: [subscription(changes)] });
  const silent = (silentMs: number) => ({
    sources: [source({ expectEveryMs: 10 * MINUTE, lastReceivedAt: NOW - silentMs })],
  });
  for (const [name, beyond, at] of [
    ["AuthserveFailureRate", { attempts: [attempts(11, 20)] }, { attempts: [attempts(10, 20)] }],
    ["AuthserveFailureRate", { attempts: [attempts(20, 20)] }, { attempts: [attempts(19, 19)] }],
    ["AuthserveSourceSilent", silent(12 * MINUTE + 1), silent(12 * MINUTE)],
    ["AuthserveQueueOld", queued(5 * MINUTE + 1), queued(5 * MINUTE)],
    [
      "AuthserveDeadLetters",
      { routes: [{ route: "all", failed: 1, queued: 0, pausedAt: null }] },
      { routes: [{ route: "all", failed: 0, queued: 0, pausedAt: null }] },
    ],
    ["AuthserveDiskLow", disk(2 * GIB - 1), disk(2 * GIB)],
    ["AuthserveOldSecret", { sources: [source({ oldSecret: "env:OLD" })] }, { sources: [source()] }],
    ["AuthserveCertificateExpiring", certificate(14 * DAY - 1), certificate(14 * DAY)],
    ["AuthserveTokenExpiring", token(7 * DAY - 1), token(7 * DAY)],
    ["AuthserveNewLoginNetwork", newLogin(60 * MINUTE - 1), newLogin(60 * MINUTE)],
    [
      "AuthserveLogoutNotDelivered",
      { logouts: [{ client: "photos", errors: ["the answer was 503"] }] },
      { logouts: [{ client: "photos", errors: [] }] },
    ],
    ["AuthserveOutage", { missed: [missed(6)] }, { missed: [missed(5)] }],
    ["AuthserveSubscriptionEnds", ends({ expiresAt: NOW + DAY - 1 }), ends({ expiresAt: NOW + DAY })],
    [
      "AuthserveSubscriptionEnds",
      ends({ expiresAt: NOW + 59 * MINUTE, lifeMs: 180 * MINUTE }),
      ends({ expiresAt: NOW + 60 * MINUTE, lifeMs: 180 * MINUTE }),
    ],
  ] satisfies [AlertName, Partial<Facts>, Partial<Facts>][]) {
    test(name, () => {
      assert.deepEqual(namesOf(beyond), [name]);
      assert.deepEqual(namesOf(at), []);
    });
  }

  test("AuthserveQueueGrowing", () => {
    const backlog = (queued: number) => ({ backlog: { queued, oldestQueuedAt: null, unreadable: 0 } });
    assert.deepEqual(namesOf(backlog(10), {}, GROWN), ["AuthserveQueueGrowing"]);
    assert.deepEqual(namesOf(backlog(9), {}, GROWN), []);
    const steady = GROWN.map((sample) => ({ ...sample, queued: 10 }));
    assert.deepEqual(namesOf(backlog(10), {}, steady), []);
  });
});

suite("a rule has the bounds of the configuration:", () => {
  for (const [what, rules, beyond, at] of [
    [
      "failureRate",
      { failureRate: { above: 0, overMs: 2 * MINUTE, atLeast: 1 } },
      { attempts: [attempts(1, 100)] },
      { attempts: [attempts(0, 100), { ...attempts(1, 1), at: NOW - 3 * MINUTE }] },
    ],
    [
      "queue",
      { queue: { olderThanMs: 1000, growingForMs: 15 * MINUTE, atLeast: 1 } },
      { backlog: { queued: 1, oldestQueuedAt: NOW - 1001, unreadable: 0 } },
      { backlog: { queued: 1, oldestQueuedAt: NOW - 1000, unreadable: 0 } },
    ],
    [
      "deadLetters",
      { deadLetters: { above: 3 } },
      {
        routes: [
          { route: "a", failed: 2, queued: 0, pausedAt: null },
          { route: "b", failed: 2, queued: 0, pausedAt: null },
        ],
      },
      {
        routes: [
          { route: "a", failed: 2, queued: 0, pausedAt: null },
          { route: "b", failed: 1, queued: 0, pausedAt: null },
        ],
      },
    ],
    [
      "disk",
      { disk: { below: 5 } },
      { disk: { freeBytes: 4, minFreeBytes: 100, isPaused: false } },
      { disk: { freeBytes: 5, minFreeBytes: 100, isPaused: false } },
    ],
    [
      "certificate",
      { certificate: { withinMs: DAY } },
      { certificateEndsAt: NOW + DAY - 1 },
      { certificateEndsAt: NOW + DAY },
    ],
  ] satisfies [string, Partial<AlertRules>, Partial<Facts>, Partial<Facts>][]) {
    test(what, () => {
      assert.equal(namesOf(beyond, rules).length, 1);
      assert.deepEqual(namesOf(at, rules), []);
    });
  }

  test("oldSecret waits for so long", () => {
    const sources = [source({ oldSecret: "env:OLD" })];
    assert.equal(find({ sources }).conditions[0]?.forMs, DAY);
    assert.equal(find({ sources }, { oldSecret: { afterMs: 1000 } }).conditions[0]?.forMs, 1000);
  });
});

suite("a rule that is off finds nothing:", () => {
  const BAD: Partial<Facts> = {
    backlog: { queued: 500, oldestQueuedAt: NOW - DAY, unreadable: 0 },
    routes: [{ route: "all", failed: 7, queued: 0, pausedAt: null }],
    attempts: [attempts(100, 100)],
    sources: [source({ oldSecret: "env:OLD" })],
    disk: { freeBytes: 0, minFreeBytes: GIB, isPaused: true },
    certificateEndsAt: NOW - 1,
    tokens: [{ name: "ci", expiresAt: NOW - 1 }],
    missed: [missed(6)],
    newLogins: [{ account: "", network: "192.0.2.0/24", at: NOW, endUrl: null }],
    logouts: [{ client: "photos", errors: ["the answer was 503"] }],
    subscriptions: [subscription({ expiresAt: NOW })],
  };
  for (const [rule, ...names] of [
    ["failureRate", "AuthserveFailureRate"],
    ["queue", "AuthserveQueueOld", "AuthserveQueueGrowing"],
    ["deadLetters", "AuthserveDeadLetters"],
    ["disk", "AuthserveDiskLow"],
    ["oldSecret", "AuthserveOldSecret"],
    ["certificate", "AuthserveCertificateExpiring"],
    ["tokens", "AuthserveTokenExpiring"],
    ["newLoginNetwork", "AuthserveNewLoginNetwork"],
    ["logouts", "AuthserveLogoutNotDelivered"],
    ["outage", "AuthserveOutage"],
    ["subscription", "AuthserveSubscriptionEnds"],
  ] satisfies [keyof AlertRules, ...AlertName[]][]) {
    test(rule, () => {
      const all = namesOf(BAD, {}, GROWN);
      const others = all.filter((name) => !(names as string[]).includes(name));
      assert.equal(all.length, others.length + names.length);
      assert.deepEqual(namesOf(BAD, { [rule]: null }, GROWN), others);
    });
  }
});

suite("what is unknown", () => {
  test("is the disk before it was measured", () => {
    const { conditions, unknown } = find({ disk: null }, {}, GROWN);
    assert.deepEqual([conditions, [...unknown]], [[], ["AuthserveDiskLow"]]);
  });

  test("is a queue that was not yet measured for long enough", () => {
    const { conditions, unknown } = find(
      { backlog: { queued: 500, oldestQueuedAt: NOW, unreadable: 0 } },
      {},
      GROWN.slice(1),
    );
    assert.deepEqual([conditions, [...unknown]], [[], ["AuthserveQueueGrowing"]]);
  });

  test("is nothing whose rule is off, so that its alerts end", () => {
    const off = { disk: null, queue: null, deadLetters: null, tokens: null };
    const { unknown } = find({ disk: null, backlog: null, routes: null, tokens: null }, off, []);
    assert.deepEqual([...unknown], ["AuthserveUnreadableEvents"]);
  });
});

suite("a silent source", () => {
  test("that has never received anything is new", () => {
    assert.deepEqual(namesOf({ sources: [source({ expectEveryMs: 1, lastReceivedAt: null })] }), []);
  });

  test("of which nothing is expected does not fire", () => {
    assert.deepEqual(namesOf({ sources: [source({ lastReceivedAt: NOW - 400 * DAY })] }), []);
  });

  test("whose last delivery has a later time does not fire", () => {
    assert.deepEqual(namesOf({ sources: [source({ expectEveryMs: 1000, lastReceivedAt: NOW + DAY })] }), []);
  });
});

test("each route and each source has an alert of its own", () => {
  const { conditions } = find({
    attempts: [attempts(30, 30, "a"), attempts(1, 30, "b"), attempts(29, 30, "c")],
    sources: ["x", "y"].map((name) => source({ name, expectEveryMs: 1000, lastReceivedAt: NOW - DAY })),
  });
  assert.deepEqual(
    conditions.map(({ labels }) => labels),
    [{ route: "a" }, { route: "c" }, { source: "x" }, { source: "y" }],
  );
});

test("deliveries that the full disk has paused fire, even if there is space again", () => {
  const disk = { freeBytes: 100 * GIB, minFreeBytes: GIB, isPaused: true };
  assert.equal(
    find({ disk }).conditions[0]?.summary,
    "100 GiB are free on the disk of DATA_DIR, and deliveries are refused",
  );
});

suite("a summary says what was measured:", () => {
  for (const [changes, summary] of [
    [{ attempts: [attempts(15, 20)] }, "15 of 20 attempts of the route all failed in the last 5 min"],
    [
      { sources: [source({ expectEveryMs: 3_600_000, lastReceivedAt: NOW - 3 * 3_600_000 })] },
      "the source shop has received nothing for 3 h, and something is expected every 60 min",
    ],
    [
      { backlog: { queued: 1, oldestQueuedAt: NOW - 10 * MINUTE, unreadable: 0 } },
      "an event has been queued for 10 min",
    ],
    [
      {
        routes: [
          { route: "a", failed: 1, queued: 0, pausedAt: null },
          { route: "b", failed: 0, queued: 0, pausedAt: null },
          { route: "c", failed: 2, queued: 0, pausedAt: null },
        ],
      },
      "jobs are in the dead letters: 1 of the route a, 2 of the route c",
    ],
    [
      { disk: { freeBytes: 1.5 * GIB, minFreeBytes: GIB, isPaused: false } },
      "1.5 GiB are free on the disk of DATA_DIR",
    ],
    [
      { sources: [source({ oldSecret: "env:OLD" })] },
      "the sender of shop still signs with the old secret env:OLD only",
    ],
    [{ certificateEndsAt: NOW + 3 * DAY }, "the certificate ends in 3 days"],
    [{ certificateEndsAt: NOW - 3 * DAY }, "the certificate ended 3 days ago"],
    [{ tokens: [{ name: "ci", expiresAt: NOW + 3 * DAY }] }, "the token ci expires in 3 days"],
    [{ tokens: [{ name: "ci", expiresAt: NOW - 3 * DAY }] }, "the token ci expired 3 days ago"],
  ] satisfies [Partial<Facts>, string][]) {
    test(summary, () => {
      const [condition, ...others] = find(changes).conditions;
      assert.equal(condition?.summary, summary);
      assert.deepEqual(others, []);
      assert.notEqual(condition?.remedy, "");
    });
  }

  test("the queue has been growing for 15 min, to 180 events", () => {
    const [condition] = find({ backlog: { queued: 180, oldestQueuedAt: NOW, unreadable: 0 } }, {}, GROWN).conditions;
    assert.equal(condition?.summary, "the queue has been growing for 15 min, to 180 events");
  });
});

suite("in an outage", () => {
  const PARTS = {
    parts: [
      { name: "events", error: "the disk is full" },
      { name: "sessions", error: null },
    ],
  };

  test("a part that is not ready, refused deliveries, refused writes and unreadable events are alerts", () => {
    assert.deepEqual(find(PARTS).conditions, [
      {
        name: "AuthserveNotReady",
        labels: { part: "events" },
        summary: "events is not ready: the disk is full",
        remedy: "authserve doctor",
        forMs: 15_000,
      },
    ]);
    assert.deepEqual(namesOf({ refused: { store_unavailable: 2 } }), ["AuthserveDeliveriesRefused"]);
    assert.deepEqual(namesOf({ writeError: "the disk is full" }), ["AuthserveStoreRefusesWrites"]);
    const backlog = { queued: 0, oldestQueuedAt: null, unreadable: 1 };
    assert.deepEqual(namesOf({ backlog }), ["AuthserveUnreadableEvents"]);
    const off = { notReady: null, refused: null, writes: null, unreadable: null };
    assert.deepEqual(namesOf({ ...PARTS, backlog, refused: { queue_full: 1 }, writeError: "x" }, off), []);
  });

  test("what the store does not tell is unknown", () => {
    const { conditions, unknown } = find({
      backlog: null,
      routes: null,
      attempts: null,
      sources: null,
      missed: null,
      subscriptions: null,
    });
    assert.deepEqual(conditions, []);
    assert.deepEqual([...unknown].sort(), [
      "AuthserveDeadLetters",
      "AuthserveFailureRate",
      "AuthserveOldSecret",
      "AuthserveOutage",
      "AuthserveQueueGrowing",
      "AuthserveQueueOld",
      "AuthserveSourceSilent",
      "AuthserveSubscriptionEnds",
      "AuthserveUnreadableEvents",
    ]);
  });
});

suite("what was missed, and what ends", () => {
  test("is told with what to do, for each source, of the longest time", () => {
    const { conditions } = find({ missed: [missed(10), missed(30), missed(20, "shop")] });
    assert.deepEqual(
      conditions.map(({ labels, remedy }) => [labels, remedy]),
      [
        [{ source: "code" }, "authserve sources catch-up code"],
        [{ source: "shop" }, "authserve sources catch-up shop"],
      ],
    );
    assert.match(
      conditions[0]?.summary ?? "",
      /^no delivery of code could be taken for 30 min, .*: the server did not run$/,
    );
  });

  test("says why a renewal fails, long before the end", () => {
    const failing = subscription({ expiresAt: NOW + 2 * DAY, lifeMs: 2 * DAY, error: "the answer was 401" });
    const [condition] = find({ subscriptions: [failing] }).conditions;
    assert.match(
      condition?.summary ?? "",
      /^the subscription of mail ends in 2 days, and was not renewed: the answer was 401$/,
    );
  });
});
