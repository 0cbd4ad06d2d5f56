import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { NewEvent } from "../../../src/events/store.ts";
import type { HeldDelivery } from "../../../src/webhook/held/held-store.ts";
import { createHolding } from "../../../src/webhook/held/holding.ts";
import type { PauseReason } from "../../../src/webhook/intake/admission.ts";
import { createIntake } from "../../../src/webhook/intake/intake.ts";
import { newEvent } from "../../helpers/events.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { recordingLog } from "../../helpers/log.ts";
import { until } from "../../helpers/until.ts";

const SOURCE = { keepRejected: { count: 1000, bytes: 1e9, forMs: 1000 } };
const MB = 1024 * 1024;

/** A holding whose store waits until it is opened. */
function open({ timeoutMs = 60_000, paused = null as PauseReason | null } = {}) {
  const gate = Promise.withResolvers<void>();
  const held: HeldDelivery[] = [];
  const { log, named } = recordingLog();
  const append = async (batch: NewEvent[]) => {
    await gate.promise;
    return batch.map(() => ({ duplicate: false, conflict: false }));
  };
  const intake = createIntake({ append, pausedBy: () => paused, queueLimit: 100, timeoutMs });
  const store = {
    async hold(batch: { delivery: HeldDelivery }[]) {
      await gate.promise;
      held.push(...batch.map(({ delivery }) => delivery));
    },
    async trim() {},
    sources: async () => [],
  };
  const holding = createHolding({ store, write: intake.write, sources: () => [], log, now: Date.now });
  const hold = (bytes: number) => holding.hold(SOURCE, { ...DELIVERY, body: Buffer.alloc(bytes) });
  return { intake, holding, hold, held, named, openStore: gate.resolve };
}

const DELIVERY: Omit<HeldDelivery, "body"> = {
  source: "shop",
  reason: "signature_mismatch",
  method: "POST",
  origin: "https://hooks.example",
  target: "/webhook/shop",
  headers: "{}",
  mediaType: "application/json",
  address: "192.0.2.1",
  receivedAt: 0,
};

suite("held deliveries", () => {
  test("take at most a quarter of the memory of the intake while the store is slow", async () => {
    const { hold, holding, held, openStore, named } = open();
    const holds = Promise.all(Array.from({ length: 20 }, () => hold(5 * MB)));
    openStore();
    await holds;
    await holding.stop();
    assert.equal(held.length, 3);
    assert.deepEqual(
      named("held_skipped").map(({ count }) => count),
      [17],
    );
  });

  test("never take the room of an event", async () => {
    const { intake, hold, openStore } = open();
    const holds = Promise.all(Array.from({ length: 200 }, () => hold(MB / 4)));
    const appended = Promise.all([1, 2].map((n) => intake.append(newEvent({ payload: Buffer.alloc(30 * MB + n) }))));
    openStore();
    await Promise.all([holds, appended]);
  });

  test("are not kept while events wait for the store", async () => {
    const { intake, hold, held, openStore } = open();
    const appended = intake.append(newEvent({ payload: Buffer.alloc(20 * MB) }));
    await hold(1);
    assert.equal(held.length, 0);
    openStore();
    await appended;
  });

  test("are not kept while the intake is paused", async () => {
    const { hold, held, openStore } = open({ paused: "disk_low" });
    openStore();
    await hold(1);
    assert.equal(held.length, 0);
  });

  test("fail with store_unavailable if the store stalls, and count until it has answered", async () => {
    const { hold, held, openStore } = open({ timeoutMs: 20 });
    await failsWith("store_unavailable", hold(16 * MB));
    await hold(1);
    openStore();
    await until(() => held.length === 1);
    await hold(1);
    assert.equal(held.length, 2);
  });
});
