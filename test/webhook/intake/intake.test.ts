import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AppError } from "../../../src/errors.ts";
import type { Appended, NewEvent } from "../../../src/events/store.ts";
import type { PauseReason } from "../../../src/webhook/intake/admission.ts";
import { createIntake, type IntakeOptions } from "../../../src/webhook/intake/intake.ts";
import { newEvent } from "../../helpers/events.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { until } from "../../helpers/until.ts";

const NEW: Appended = { duplicate: false, conflict: false };
const KNOWN: Appended = { duplicate: true, conflict: false };

function open(queueLimit = 100, timeoutMs = 60_000, more: Partial<IntakeOptions> = {}) {
  const commits: { batch: NewEvent[]; gate: PromiseWithResolvers<Appended[]> }[] = [];
  const intake = createIntake({
    append(batch) {
      const gate = Promise.withResolvers<Appended[]>();
      commits.push({ batch, gate });
      return gate.promise;
    },
    pausedBy: () => null,
    queueLimit,
    timeoutMs,
    ...more,
  });
  async function commit(number: number) {
    await until(() => commits.length >= number);
    const found = commits[number - 1];
    assert.ok(found);
    return found;
  }
  return { intake, commit };
}

suite("the intake", () => {
  test("answers a delivery only after its commit", async () => {
    const { intake, commit } = open();
    let answered = false;
    const answer = intake.append(newEvent()).finally(() => {
      answered = true;
    });
    const { batch, gate } = await commit(1);
    assert.equal(batch.length, 1);
    assert.equal(answered, false);
    gate.resolve([NEW]);
    assert.deepEqual(await answer, NEW);
  });

  test("counts the unanswered deliveries", async () => {
    const { intake, commit } = open();
    const first = ["a", "b", "c"].map((eventId) => intake.append(newEvent({ eventId })));
    const before = await commit(1);
    assert.equal(intake.unanswered, 3);
    const second = ["d", "e"].map((eventId) => intake.append(newEvent({ eventId })));
    const behind = await commit(2);
    assert.equal(intake.unanswered, 5);
    before.gate.resolve([NEW, NEW, NEW]);
    await Promise.all(first);
    behind.gate.resolve([NEW, NEW]);
    await Promise.all(second);
    await intake.flush();
    assert.equal(intake.unanswered, 0);
  });

  test("groups deliveries that arrive during a commit, and gives each its own answer", async () => {
    const { intake, commit } = open();
    const first = intake.append(newEvent({ eventId: "a" }));
    const running = await commit(1);
    const others = ["b", "c", "d"].map((eventId) => intake.append(newEvent({ eventId })));
    running.gate.resolve([NEW]);
    const next = await commit(2);
    assert.deepEqual(
      next.batch.map(({ eventId }) => eventId),
      ["b", "c", "d"],
    );
    next.gate.resolve([NEW, KNOWN, NEW]);
    assert.deepEqual(await Promise.all([first, ...others]), [NEW, NEW, KNOWN, NEW]);
  });

  test("rejects every delivery of a failed commit and accepts the next one", async () => {
    const { intake, commit } = open();
    const answers = ["a", "b", "c"].map((eventId) => intake.append(newEvent({ eventId })));
    (await commit(1)).gate.reject(new AppError("store_unavailable", { retryAfterSeconds: 5 }));
    for (const answer of answers) await failsWith("store_unavailable", answer);
    const next = intake.append(newEvent());
    (await commit(2)).gate.resolve([NEW]);
    assert.deepEqual(await next, NEW);
  });

  test("wakes nobody for duplicates", async () => {
    const { intake, commit } = open();
    const answer = intake.append(newEvent());
    (await commit(1)).gate.resolve([KNOWN]);
    await answer;
  });

  test("refuses deliveries at once while its queue is full, and accepts them afterwards", async () => {
    const { intake, commit } = open(2);
    const first = intake.append(newEvent({ eventId: "a" }));
    const running = await commit(1);
    const waiting = ["b", "c"].map((eventId) => intake.append(newEvent({ eventId })));
    const error = await failsWith("queue_full", intake.append(newEvent({ eventId: "d" })));
    assert.ok(Number.isInteger(error.retryAfterSeconds));
    running.gate.resolve([NEW]);
    const next = await commit(2);
    assert.equal(next.batch.length, 2);
    const later = intake.append(newEvent({ eventId: "e" }));
    next.gate.resolve([NEW, NEW]);
    (await commit(3)).gate.resolve([NEW]);
    assert.equal((await Promise.all([first, ...waiting, later])).length, 4);
  });

  test("refuses deliveries while they are paused, with the reason for the log only", async () => {
    let reason: PauseReason | null = null;
    const { intake, commit } = open(100, 60_000, { pausedBy: () => reason });
    const before = intake.append(newEvent({ eventId: "a" }));
    for (reason of ["disk_low", "queue_old"] as const) {
      const error = await failsWith("intake_paused", intake.append(newEvent({ eventId: "b" })));
      assert.equal(error.reason, reason);
      assert.ok(Number.isInteger(error.retryAfterSeconds));
    }
    (await commit(1)).gate.resolve([NEW]);
    assert.deepEqual(await before, NEW);
    reason = null;
    const after = intake.append(newEvent({ eventId: "b" }));
    const { batch, gate } = await commit(2);
    assert.equal(batch.length, 1);
    gate.resolve([NEW]);
    assert.deepEqual(await after, NEW);
  });

  test("accepts an event above the byte limit if nothing else waits", async () => {
    const { intake, commit } = open(100, 60_000, { queueBytes: 10 });
    const large = (eventId: string) => intake.append(newEvent({ eventId, payload: Buffer.alloc(100) }));
    const first = large("a");
    await failsWith("queue_full", large("b"));
    (await commit(1)).gate.resolve([NEW]);
    assert.deepEqual(await first, NEW);
  });

  test("limits the bytes that wait or are being committed, also after failed commits", async () => {
    const { intake, commit } = open(1000);
    const payload = Buffer.alloc(16 * 1024 * 1024);
    const large = () => intake.append(newEvent({ payload }));
    for (const round of [0, 1]) {
      const running = large();
      const first = await commit(round * 2 + 1);
      const waiting = [large(), large(), large()];
      await failsWith("queue_full", large());
      first.gate.reject(new AppError("store_unavailable"));
      await failsWith("store_unavailable", running);
      (await commit(round * 2 + 2)).gate.reject(new AppError("store_unavailable"));
      for (const answer of waiting) await failsWith("store_unavailable", answer);
    }
  });

  test("resolves flush when every delivery is answered", async () => {
    const { intake, commit } = open();
    const answers = [intake.append(newEvent({ eventId: "a" }))];
    const running = await commit(1);
    answers.push(intake.append(newEvent({ eventId: "b" })));
    let flushed = false;
    const flush = intake.flush().then(() => {
      flushed = true;
    });
    running.gate.resolve([NEW]);
    const next = await commit(2);
    assert.equal(flushed, false);
    next.gate.resolve([NEW]);
    await flush;
    assert.equal((await Promise.all(answers)).length, 2);
  });

  test("rejects a delivery that waits too long with store_unavailable and does not store it later", async () => {
    const { intake, commit } = open(100, 40);
    const refused: Promise<unknown>[] = [];
    for (let n = 0; n < 4; n++) {
      refused.push(failsWith("store_unavailable", intake.append(newEvent({ eventId: `e-${n}` }))));
      await commit(n + 1);
    }
    refused.push(failsWith("store_unavailable", intake.append(newEvent({ eventId: "late" }))));
    await Promise.all(refused);
    for (let n = 0; n < 4; n++) (await commit(n + 1)).gate.resolve([NEW]);
    await intake.flush();
    const next = intake.append(newEvent({ eventId: "next" }));
    const { batch, gate } = await commit(5);
    assert.deepEqual(
      batch.map(({ eventId }) => eventId),
      ["next"],
    );
    gate.resolve([NEW]);
    assert.deepEqual(await next, NEW);
  });
});
