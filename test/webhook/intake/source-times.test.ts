import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silenceOf } from "../../../src/alerts/rules.ts";
import type { SourceRecord, SourceStore } from "../../../src/webhook/intake/source-store.ts";
import { withBoundTimes } from "../../../src/webhook/intake/source-times.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

/** The records of a store with one source, whose times are those given, at the times that the test sets. */
function opened(lastReceivedAt: number | null, uses: Record<string, number> = {}) {
  const clock = { now: NOW };
  const secrets = Object.entries(uses).map(([name, at]) => ({ name, mark: "m", firstUsedAt: at, lastUsedAt: at }));
  const record: SourceRecord = {
    source: "shop",
    received: 1,
    refused: 0,
    refusals: {},
    lastReceivedAt,
    lastSecret: secrets[0]?.name ?? null,
    secrets,
  };
  const sources = { list: async () => [record] } as unknown as SourceStore;
  const store = withBoundTimes(sources, () => clock.now);
  return { clock, record, read: async () => (await store.list())[0] as SourceRecord };
}

suite("the times of a source", () => {
  test("are those that are stored", async () => {
    const { read, record } = opened(NOW, { "env:A": NOW, "env:B": NOW - HOUR });
    assert.deepEqual(await read(), record);
  });

  test("count from when they were first found, if they are ahead of now: the source becomes silent", async () => {
    const { read, clock } = opened(NOW + 1e10);
    assert.equal((await read()).lastReceivedAt, NOW);
    clock.now += 10 * HOUR;
    const { lastReceivedAt } = await read();
    assert.equal(lastReceivedAt, NOW);
    assert.equal(silenceOf({ expectEveryMs: HOUR, lastReceivedAt }, clock.now), 10 * HOUR);
  });

  test("are those of a later delivery once it is stored", async () => {
    const { read, clock, record } = opened(NOW + 1e10);
    await read();
    clock.now += HOUR;
    record.lastReceivedAt = clock.now;
    assert.equal((await read()).lastReceivedAt, clock.now);
  });

  test("tell which secret was used last, also if one was used while the clock was ahead", async () => {
    const { read, clock } = opened(NOW, { "env:OLD": NOW + 1e10, "env:NEW": NOW + 2 * HOUR });
    assert.equal((await read()).lastSecret, "env:OLD");
    clock.now += 3 * HOUR;
    const { lastSecret, secrets } = await read();
    assert.equal(lastSecret, "env:NEW");
    assert.deepEqual(
      secrets.map(({ name, lastUsedAt }) => [name, lastUsedAt - NOW]),
      [
        ["env:NEW", 2 * HOUR],
        ["env:OLD", 0],
      ],
    );
  });

  test("without a delivery there is none", async () => {
    assert.equal((await opened(null).read()).lastReceivedAt, null);
  });
});
