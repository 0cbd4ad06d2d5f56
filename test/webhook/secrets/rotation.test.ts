import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SourceRecord } from "../../../src/webhook/intake/source-store.ts";
import {
  oldSecretInUse,
  oldSecretsOf,
  retiresAt,
  rotationFindings,
  usageIn,
} from "../../../src/webhook/secrets/rotation.ts";
import { markOf } from "../../../src/webhook/signature/secret.ts";
import { secretOf } from "../../helpers/secret.ts";

const NOW = 1_800_000_000_000;
const DAY_MS = 24 * 3_600_000;

/** The source `stripe` with these secrets, the newest first. */
function sourceWith(...names: string[]) {
  return { name: "stripe", secrets: names.map((name) => secretOf(`value of ${name}`, name)) };
}

/** A record with the days since the first and the last use of each secret. */
function used(days: Record<string, [first: number, last: number]>): SourceRecord {
  const at = (ago: number) => NOW - ago * DAY_MS;
  const secrets = Object.entries(days)
    .map(([name, [first, last]]) => ({
      name,
      mark: markOf(`value of ${name}`),
      firstUsedAt: at(first),
      lastUsedAt: at(last),
    }))
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt);
  const last = secrets[0];
  const lastReceivedAt = last?.lastUsedAt ?? null;
  return {
    source: "stripe",
    received: 9,
    refused: 0,
    refusals: {},
    lastReceivedAt,
    lastSecret: last?.name ?? null,
    secrets,
  };
}

const find = (names: string[], record?: SourceRecord) =>
  rotationFindings(sourceWith(...names), record, NOW).map(({ found, remedy }) => `${found}: ${remedy}`);

const TWO = ["env:NEW", "env:OLD"];
const REMOVE = "remove env:OLD from stripe";
const SWITCH = "set the secret of env:NEW at the sender";

suite("an old secret can be removed", () => {
  for (const [when, days, finding] of [
    ["7 days after its last use", { "env:NEW": [7, 0], "env:OLD": [90, 7] }, "last signed with env:OLD 7 days ago"],
    ["if it was never used in 7 days", { "env:NEW": [7, 0] }, "has never signed with env:OLD"],
    ["if the source is idle since then", { "env:NEW": [40, 30], "env:OLD": [90, 37] }, "last signed with env:OLD 37"],
  ] as const) {
    test(when, () => {
      const [found = "", ...others] = find(TWO, used(days as never));
      assert.deepEqual(others, []);
      assert.ok(found.startsWith(`the sender of stripe ${finding}`) && found.endsWith(`: ${REMOVE}`), found);
    });
  }

  test("also if a newer one than it is an old one", () => {
    const record = used({ "env:MIDDLE": [30, 0], "env:OLD": [90, 29] });
    const [first, second] = find(["env:NEW", "env:MIDDLE", "env:OLD"], record);
    assert.match(String(first), /still signs with the old secret env:MIDDLE, and never with env:NEW/);
    assert.match(String(second), /last signed with env:OLD 29 days ago/);
  });
});

suite("the sender still uses an old secret", () => {
  for (const [when, days, finding] of [
    ["if the newest was never used", { "env:OLD": [90, 1] }, "never with env:NEW"],
    [
      "if the newest was last used more than a day before",
      { "env:NEW": [9, 3], "env:OLD": [90, 1] },
      "last with env:NEW 3 days ago",
    ],
  ] as const) {
    test(when, () =>
      assert.deepEqual(find(TWO, used(days as never)), [
        `the sender of stripe still signs with the old secret env:OLD, and ${finding}: ${SWITCH}`,
      ]),
    );
  }
});

suite("there is no finding", () => {
  for (const [when, names, days] of [
    ["without a second secret", ["env:NEW"], { "env:NEW": [90, 0] }],
    ["without any delivery", TWO, {}],
    ["while the old secret was used less than 7 days ago", TWO, { "env:NEW": [90, 0], "env:OLD": [90, 6.9] }],
    ["while the newest secret is in use for less than 7 days", TWO, { "env:NEW": [6.9, 0] }],
    ["while the sender uses both on one day", TWO, { "env:NEW": [2, 1], "env:OLD": [90, 0] }],
    ["if the source is idle since the rotation began", TWO, { "env:NEW": [31, 30], "env:OLD": [90, 32] }],
    ["while the last delivery has a secret that was renamed", TWO, { "env:RENAMED": [90, 0], "env:OLD": [99, 91] }],
  ] as const) {
    test(when, () => assert.deepEqual(find([...names], used(days as never)), []));
  }

  test("for a source without a record or without secrets", () => {
    assert.deepEqual(find(TWO), []);
    assert.deepEqual(find([], used({ "env:OLD": [9, 0] })), []);
  });
});

suite("a secret whose value was changed", () => {
  const moved = used({ "env:NEW": [90, 2], "env:OLD": [400, 100] });
  for (const usage of moved.secrets) usage.mark = "none";

  test("has never been used", () => {
    assert.deepEqual(find(TWO, moved), []);
    assert.equal(oldSecretInUse(sourceWith(...TWO), moved), null);
  });

  test("is the one in use once it matches", () => {
    const secrets = [...used({ "env:OLD": [0, 0] }).secrets, ...moved.secrets.filter(({ name }) => name === "env:NEW")];
    const record = { ...moved, lastSecret: "env:OLD", secrets };
    assert.deepEqual(find(TWO, record), [
      `the sender of stripe still signs with the old secret env:OLD, and never with env:NEW: ${SWITCH}`,
    ]);
    assert.equal(oldSecretInUse(sourceWith(...TWO), record), "env:OLD");
  });
});

suite("an old secret is retired", () => {
  const RETIRE_MS = 14 * DAY_MS;

  /** The days until the last of these secrets is retired. */
  function daysLeft(names: string[], days: Record<string, [first: number, last: number]>): number {
    const record = used(days);
    const old = oldSecretsOf(sourceWith(...names)).at(-1);
    assert.ok(old);
    return (retiresAt(old, RETIRE_MS, (secret) => usageIn(record, secret)) - NOW) / DAY_MS;
  }

  for (const [when, names, days, left] of [
    ["so long after its last use", TWO, { "env:NEW": [5, 0], "env:OLD": [90, 4] }, 10],
    ["also if the newest was never used", TWO, { "env:OLD": [90, 20] }, -6],
    ["if it was never used, so long after the first use of the newest", TWO, { "env:NEW": [15, 0] }, -1],
    ["not before any use", TWO, {}, Number.POSITIVE_INFINITY],
    ["also if a newer one was added since", ["env:NEWER", ...TWO], { "env:NEW": [15, 9] }, -1],
  ] as const) {
    test(when, () => assert.equal(daysLeft([...names], days as never), left));
  }

  test("among secrets and among public keys apart", () => {
    const [secret, oldSecret, key, oldKey] = ["a", "b", "c", "d"].map((name) => secretOf(name, name));
    assert.ok(secret && oldSecret && key && oldKey);
    assert.deepEqual(oldSecretsOf({ secrets: [secret, oldSecret], keys: [key, oldKey] }), [
      { secret: oldSecret, newer: [secret] },
      { secret: oldKey, newer: [key] },
    ]);
    assert.deepEqual(oldSecretsOf({ secrets: [], keys: [key] }), []);
  });

  for (const [when, lastUse, finding] of [
    ["is not said two days before", 12, "the sender of stripe last signed with env:OLD 12 days ago"],
    [
      "is said a day before",
      13.5,
      "stripe will retire env:OLD at 2027-01-15T20:00:00.000Z, unless its sender uses it before",
    ],
    ["is said afterwards", 14, "stripe has not accepted env:OLD since 2027-01-15T08:00:00.000Z: it is retired"],
  ] as const) {
    test(when, () => {
      const record = used({ "env:NEW": [30, 0], "env:OLD": [90, lastUse] });
      const findings = rotationFindings({ ...sourceWith(...TWO), retireMs: RETIRE_MS }, record, NOW);
      assert.deepEqual(findings, [{ found: finding, remedy: REMOVE }]);
    });
  }

  test("and the sender is to be changed if it still uses it", () => {
    const source = { ...sourceWith(...TWO), retireMs: RETIRE_MS };
    const remedies = (lastUse: number) =>
      rotationFindings(source, used({ "env:OLD": [90, lastUse] }), NOW).map(({ remedy }) => remedy);
    assert.deepEqual(remedies(13.5), [SWITCH]);
    assert.deepEqual(remedies(15), [REMOVE, SWITCH]);
  });
});

test("no finding has the value of a secret", () => {
  for (const days of [{ "env:NEW": [9, 0] }, { "env:OLD": [9, 0] }] as never[]) {
    const found = find(TWO, used(days));
    assert.equal(found.length, 1);
    assert.doesNotMatch(found.join(), /value of/);
  }
});
