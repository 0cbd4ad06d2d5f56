import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { countedReason, createSourceCounter } from "../../../src/webhook/intake/source-counter.ts";
import type { SourceCounts } from "../../../src/webhook/intake/source-store.ts";

const NOW = 1_800_000_000_000;
const NEW = { name: "env:NEW", mark: "0a1b" };
const OLD = { name: "env:OLD", mark: "2c3d" };
const STORED = { duplicate: false, conflict: false };

/** A counter with a store whose writes the test ends, and with time that the test moves. */
function open({ mock }: TestContext) {
  mock.timers.enable({ apis: ["setTimeout"] });
  const writes: { counts: SourceCounts[]; gate: PromiseWithResolvers<void> }[] = [];
  const errors: unknown[] = [];
  const store = {
    add(counts: SourceCounts[]) {
      const gate = Promise.withResolvers<void>();
      writes.push({ counts, gate });
      return gate.promise;
    },
  };
  const counter = createSourceCounter(store, { onError: (error) => void errors.push(error) });
  /** Ends the last write, with this error if there is one. */
  async function end(error?: Error): Promise<void> {
    await nextTurn();
    if (error) writes.at(-1)?.gate.reject(error);
    else writes.at(-1)?.gate.resolve();
    await nextTurn();
  }
  return { counter, writes, errors, end, tick: (ms: number) => mock.timers.tick(ms) };
}

const receivedOf = ({ counts }: { counts: SourceCounts[] }) => counts.map(({ received }) => received);

suite("the source counter", () => {
  test("stores the sums of each source once, 200 ms after the first change", (t) => {
    const { counter, writes, tick } = open(t);
    counter.received("stripe", OLD, NOW + 2, STORED);
    counter.received("stripe", NEW, NOW + 3, STORED);
    tick(199);
    counter.received("stripe", OLD, NOW + 1, { duplicate: true, conflict: false });
    counter.received("stripe", OLD, NOW + 1, { duplicate: true, conflict: true });
    counter.received("stripe", OLD, NOW + 1, { duplicate: true, conflict: false, repeat: true });
    counter.refused("stripe", "no_signature");
    counter.refused("github", "no_signature");
    assert.equal(writes.length, 0);
    tick(1);
    assert.deepEqual(writes[0]?.counts, [
      {
        source: "stripe",
        received: 5,
        duplicates: 1,
        conflicts: 1,
        repeats: 1,
        refused: 1,
        refusals: { no_signature: 1 },
        lastReceivedAt: NOW + 3,
        secrets: [
          { ...OLD, lastUsedAt: NOW + 2 },
          { ...NEW, lastUsedAt: NOW + 3 },
        ],
      },
      {
        source: "github",
        received: 0,
        duplicates: 0,
        conflicts: 0,
        repeats: 0,
        refused: 1,
        refusals: { no_signature: 1 },
        lastReceivedAt: null,
        secrets: [],
      },
    ]);
  });

  test("of a secret whose value changed, the later use counts", (t) => {
    const { counter, writes, tick } = open(t);
    const changed = { ...NEW, mark: "4e5f" };
    counter.received("a", changed, NOW + 1, STORED);
    counter.received("a", NEW, NOW, STORED);
    tick(200);
    assert.deepEqual(writes[0]?.counts[0]?.secrets, [{ ...changed, lastUsedAt: NOW + 1 }]);
  });

  test("writes nothing while nothing changes", async (t) => {
    const { counter, writes, end, tick } = open(t);
    tick(10_000);
    assert.equal(writes.length, 0);
    counter.refused("a", "no_signature");
    tick(200);
    await end();
    tick(10_000);
    assert.equal(writes.length, 1);
    await counter.flush();
    assert.equal(writes.length, 1);
  });

  test("starts no write while one is running, and stores what came meanwhile after it", async (t) => {
    const { counter, writes, end, tick } = open(t);
    counter.received("a", NEW, NOW, STORED);
    tick(200);
    counter.received("a", NEW, NOW, STORED);
    counter.received("a", NEW, NOW, STORED);
    tick(10_000);
    assert.equal(writes.length, 1);
    await end();
    tick(200);
    assert.deepEqual(writes.map(receivedOf), [[1], [2]]);
  });

  test("keeps the sums of a failed write, and tries again after a second", async (t) => {
    const { counter, writes, errors, end, tick } = open(t);
    counter.received("a", NEW, NOW + 5, STORED);
    tick(200);
    counter.received("a", NEW, NOW, STORED);
    counter.refused("b", "no_signature");
    await end(new Error("full"));
    assert.match(String(errors), /full/);
    tick(999);
    counter.refused("b", "no_signature");
    assert.equal(writes.length, 1);
    tick(1);
    const secrets = [{ ...NEW, lastUsedAt: NOW + 5 }];
    assert.deepEqual(writes[1]?.counts, [
      {
        source: "a",
        received: 2,
        duplicates: 0,
        conflicts: 0,
        repeats: 0,
        refused: 0,
        refusals: {},
        lastReceivedAt: NOW + 5,
        secrets,
      },
      {
        source: "b",
        received: 0,
        duplicates: 0,
        conflicts: 0,
        repeats: 0,
        refused: 2,
        refusals: { no_signature: 2 },
        lastReceivedAt: null,
        secrets: [],
      },
    ]);
    await end();
    tick(10_000);
    assert.equal(writes.length, 2);
  });

  test("tells a failure once for an outage, and again for the next one", async (t) => {
    const { counter, errors, end, tick } = open(t);
    counter.refused("a", "no_signature");
    tick(200);
    for (const error of ["down", "not yet"]) {
      await end(new Error(error));
      tick(1000);
    }
    assert.equal(errors.length, 1);
    await end();
    counter.refused("a", "no_signature");
    tick(200);
    await end(new Error("down"));
    assert.equal(errors.length, 2);
  });

  test("a flush stores the rest at once, after the running write", async (t) => {
    const { counter, writes, end, tick } = open(t);
    counter.received("a", NEW, NOW, STORED);
    tick(200);
    counter.received("a", NEW, NOW, STORED);
    const flushed = counter.flush();
    await nextTurn();
    assert.equal(writes.length, 1);
    await end();
    assert.equal(writes.length, 2);
    await end();
    await flushed;
  });

  test("a flush of a store that fails reports the error, resolves, and is not followed by writes", async (t) => {
    const { counter, writes, errors, end, tick } = open(t);
    counter.refused("a", "no_signature");
    const flushed = counter.flush();
    await end(new Error("closed"));
    await flushed;
    counter.refused("b", "no_signature");
    tick(10_000);
    assert.deepEqual([writes.length, errors.length], [1, 1]);
  });

  test("a flush does not wait longer than two seconds for a store that does not answer", async (t) => {
    const { counter, errors, tick } = open(t);
    counter.refused("a", "no_signature");
    const flushed = counter.flush();
    tick(2000);
    await flushed;
    assert.match(String(errors), /does not answer/);
  });
});

test("a source counter does not keep the process alive", () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  createSourceCounter({ add: async () => {} }, { onError: assert.ifError }).refused("a", "no_signature");
  assert.equal(timers(), before);
});

test("a refusal is counted by its reason if the reasons of its code are few, else by its code", () => {
  assert.equal(countedReason("signature_mismatch", "timestamp_too_old"), "timestamp_too_old");
  assert.equal(countedReason("unsupported_media_type", "charset"), "charset");
  assert.equal(countedReason("intake_paused", "addresses_unknown"), "addresses_unknown");
  assert.equal(countedReason("invalid_payload", "too_deep"), "too_deep");
  assert.equal(countedReason("invalid_payload", "id must be a non-empty string"), "invalid_payload");
  assert.equal(countedReason("queue_full"), "queue_full");
});
