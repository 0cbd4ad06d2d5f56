import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { rotationFindings } from "../../src/webhook/rotation.ts";
import type { SourceRecord } from "../../src/webhook/source-store.ts";

const NOW = 1_800_000_000_000;
const DAY_MS = 24 * 3_600_000;

/** The source `stripe` with these secrets, the newest first. */
function sourceWith(...names: string[]) {
  return { name: "stripe", secrets: names.map((name) => ({ name, value: `value of ${name}` })) };
}

/** A record with the days since the first and the last use of each secret. */
function used(days: Record<string, [first: number, last: number]>): SourceRecord {
  const at = (ago: number) => NOW - ago * DAY_MS;
  const secrets = Object.entries(days)
    .map(([name, [first, last]]) => ({ name, firstUsedAt: at(first), lastUsedAt: at(last) }))
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt);
  const last = secrets[0];
  const lastReceivedAt = last?.lastUsedAt ?? null;
  return { source: "stripe", received: 9, refused: 0, lastReceivedAt, lastSecret: last?.name ?? null, secrets };
}

const find = (names: string[], record?: SourceRecord) =>
  rotationFindings(sourceWith(...names), record, NOW).map(({ found, remedy }) => `${found}: ${remedy}`);

const TWO = ["env:NEW", "env:OLD"];
const REMOVE = "remove env:OLD from stripe, unless its value is newer than 7 days";
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
    [
      "after names were kept and values were moved",
      { "env:NEW": [90, 2], "env:OLD": [0, 0] },
      "last with env:NEW 2 days ago",
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

test("no finding has the value of a secret", () => {
  for (const days of [{ "env:NEW": [9, 0] }, { "env:OLD": [9, 0] }] as never[]) {
    const found = find(TWO, used(days));
    assert.equal(found.length, 1);
    assert.doesNotMatch(found.join(), /value of/);
  }
});
