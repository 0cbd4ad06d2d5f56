import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { DiskSpace } from "../../../src/lib/files.ts";
import {
  type AdmissionOptions,
  createAdmission,
  isDiskLow,
  isQueueOld,
} from "../../../src/webhook/intake/admission.ts";
import { recordingLog } from "../../helpers/log.ts";

const MIB = 1024 ** 2;
const UNLIMITED = Number.POSITIVE_INFINITY;

interface DiskCase {
  freeMib: number;
  sizeMib?: number;
  markMib?: number;
  wasLow?: boolean;
  isLow: boolean;
}

suite("the free space of a disk is", () => {
  const cases: Record<string, DiskCase> = {
    "enough at the mark": { markMib: 100, freeMib: 100, isLow: false },
    "low below the mark": { markMib: 100, freeMib: 99, isLow: true },
    "still low at the mark": { markMib: 100, freeMib: 100, wasLow: true, isLow: true },
    "still low below 1.25 times the mark": { markMib: 100, freeMib: 124, wasLow: true, isLow: true },
    "enough again at 1.25 times the mark": { markMib: 100, freeMib: 125, wasLow: true, isLow: false },
    "low below 256 MiB by default": { sizeMib: 100_000, freeMib: 255, isLow: true },
    "enough at 256 MiB by default": { sizeMib: 100_000, freeMib: 256, isLow: false },
    "low below 5 % of a small disk by default": { sizeMib: 1000, freeMib: 49, isLow: true },
    "enough at 5 % of a small disk by default": { sizeMib: 1000, freeMib: 50, isLow: false },
    "low below a mark above the default": { markMib: 1000, freeMib: 999, isLow: true },
    "never low without a mark": { markMib: 0, freeMib: 0, isLow: false },
    "enough again without a mark": { markMib: 0, freeMib: 0, wasLow: true, isLow: false },
    "never low on an unlimited disk": { markMib: 1000, freeMib: UNLIMITED, sizeMib: UNLIMITED, isLow: false },
    "never low on an unlimited disk by default": { freeMib: UNLIMITED, sizeMib: UNLIMITED, isLow: false },
  };
  for (const [title, { freeMib, sizeMib = 10_000, markMib, wasLow = false, isLow }] of Object.entries(cases)) {
    test(title, () => {
      const mark = markMib === undefined ? undefined : markMib * MIB;
      assert.equal(isDiskLow(wasLow, { freeBytes: freeMib * MIB, sizeBytes: sizeMib * MIB }, mark), isLow);
    });
  }

  for (const wasLow of [false, true]) {
    test(`${wasLow ? "still low" : "still enough"} when it is unknown`, () => {
      assert.equal(isDiskLow(wasLow, null, 100 * MIB), wasLow);
    });
  }
});

interface QueueCase {
  ageMs: number | null | "unknown";
  wasOld?: boolean;
  isOld: boolean;
}

suite("with a mark of 1000 ms, a queue is", () => {
  const cases: Record<string, QueueCase> = {
    "not old at the mark": { ageMs: 1000, isOld: false },
    "old above the mark": { ageMs: 1001, isOld: true },
    "still old below the mark": { ageMs: 900, wasOld: true, isOld: true },
    "still old at 0.8 times the mark": { ageMs: 800, wasOld: true, isOld: true },
    "not old below 0.8 times the mark": { ageMs: 799, wasOld: true, isOld: false },
    "not old without events": { ageMs: null, isOld: false },
    "not old after its last event": { ageMs: null, wasOld: true, isOld: false },
    "not old when the clock was set back": { ageMs: -5000, wasOld: true, isOld: false },
    "not old when it is unknown": { ageMs: "unknown", isOld: false },
    "still old when it is unknown": { ageMs: "unknown", wasOld: true, isOld: true },
  };
  const now = 1_700_000_000_000;
  for (const [title, { ageMs, wasOld = false, isOld }] of Object.entries(cases)) {
    test(title, () => {
      const oldest = ageMs === "unknown" ? null : { oldestQueuedAt: ageMs === null ? null : now - ageMs };
      assert.equal(isQueueOld(wasOld, oldest, now, 1000), isOld);
    });
  }
});

/** An admission with marks of 100 bytes and 1000 ms. Its disk and its queue can be changed. */
function open(options: Partial<AdmissionOptions> = {}) {
  const disk: DiskSpace = { freeBytes: 1000, sizeBytes: 10_000 };
  const queue: { ageMs: number | null } = { ageMs: null };
  const log = recordingLog();
  const calls = { space: 0, backlog: 0 };
  const {
    readSpace = async () => disk,
    readBacklog = async () => ({ oldestQueuedAt: queue.ageMs === null ? null : 50_000 - queue.ageMs }),
  } = options;
  const admission = createAdmission({
    minFreeBytes: 100,
    maxQueueAgeMs: 1000,
    log: log.log,
    now: () => 50_000,
    ...options,
    readSpace() {
      calls.space++;
      return readSpace();
    },
    readBacklog() {
      calls.backlog++;
      return readBacklog();
    },
  });
  return { admission, disk, queue, log, calls };
}

const never = () => new Promise<never>(() => {});
const fails = () => Promise.reject(new Error("EIO"));

/** Lets time pass on mocked timers, and what they started run. */
async function pass(t: TestContext, ms: number): Promise<void> {
  t.mock.timers.tick(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

suite("an admission", () => {
  test("pauses deliveries and resumes them, and logs each change once with its figures", async () => {
    const { admission, disk, log } = open();
    await admission.check();
    assert.equal(admission.pausedBy(), null);
    await admission.requireOpen();
    disk.freeBytes = 99;
    for (let n = 0; n < 3; n++) await admission.check();
    assert.equal(admission.pausedBy(), "disk_low");
    assert.equal(admission.freeBytes, 99);
    await assert.rejects(admission.requireOpen(), /paused.*MIN_FREE_DISK/);
    disk.freeBytes = 125;
    for (let n = 0; n < 3; n++) await admission.check();
    assert.equal(admission.pausedBy(), null);
    const [paused, resumed, ...more] = log.lines;
    assert.deepEqual(more, []);
    assert.deepEqual([paused?.level, paused?.event, paused?.reason], ["warn", "intake_paused", "disk_low"]);
    assert.deepEqual([paused?.freeBytes, paused?.minFreeBytes], [99, 100]);
    assert.match(String(paused?.message), /make space.*MIN_FREE_DISK/);
    assert.deepEqual([resumed?.level, resumed?.event, resumed?.reason], ["info", "intake_resumed", "disk_low"]);
  });

  test("pauses deliveries for an old queue, with its age", async () => {
    const { admission, queue, log } = open();
    queue.ageMs = 2500;
    await admission.check();
    assert.equal(admission.pausedBy(), "queue_old");
    const [line] = log.named("intake_paused");
    assert.deepEqual([line?.reason, line?.oldestQueuedSeconds, line?.maxQueueAgeSeconds], ["queue_old", 2, 1]);
    assert.match(String(line?.message), /MAX_QUEUE_AGE/);
    queue.ageMs = null;
    await admission.check();
    assert.equal(admission.pausedBy(), null);
  });

  test("stays paused until no reason is left, and names all of them", async () => {
    const { admission, disk, queue, log } = open();
    disk.freeBytes = 0;
    queue.ageMs = 5000;
    await admission.check();
    assert.deepEqual(admission.paused, { disk_low: true, queue_old: true });
    await assert.rejects(admission.requireOpen(), /MIN_FREE_DISK.*MAX_QUEUE_AGE/);
    disk.freeBytes = 1000;
    await admission.check();
    assert.equal(admission.pausedBy(), "queue_old");
    assert.deepEqual(
      log.named("intake_resumed").map(({ reason }) => reason),
      ["disk_low"],
    );
  });

  test("does not read the queue without MAX_QUEUE_AGE", async () => {
    const { admission, calls } = open({ maxQueueAgeMs: undefined });
    await admission.check();
    assert.deepEqual(calls, { space: 1, backlog: 0 });
  });

  test("keeps its state when a read fails", async () => {
    let isBroken = false;
    const { admission, queue } = open({
      readSpace: () => (isBroken ? fails() : Promise.resolve({ freeBytes: 50, sizeBytes: 10_000 })),
      readBacklog: () => (isBroken ? fails() : Promise.resolve({ oldestQueuedAt: queue.ageMs })),
    });
    await admission.check();
    isBroken = true;
    await admission.check();
    assert.deepEqual(admission.paused, { disk_low: true, queue_old: false });
    assert.equal(admission.freeBytes, null);
  });

  test("goes on with the queue while the disk does not answer, and asks it only once", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const { admission, queue, calls } = open({ readSpace: never });
    void admission.start();
    for (let n = 0; n < 5; n++) await pass(t, 1000);
    assert.deepEqual(calls, { space: 1, backlog: 5 });
    assert.equal(admission.pausedBy(), null);
    queue.ageMs = 5000;
    await pass(t, 1000);
    assert.equal(admission.pausedBy(), "queue_old");
    assert.equal(admission.freeBytes, null);
  });

  test("takes up a late answer of the disk", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const gate = Promise.withResolvers<DiskSpace>();
    const { admission, calls } = open({ readSpace: () => gate.promise });
    const first = admission.check();
    await pass(t, 1000);
    await first;
    assert.equal(admission.pausedBy(), null);
    const next = admission.check();
    gate.resolve({ freeBytes: 1, sizeBytes: 10_000 });
    await next;
    assert.equal(admission.pausedBy(), "disk_low");
    assert.equal(calls.space, 1);
  });

  test("checks every second from its start to its stop", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const { admission, calls } = open();
    void admission.start();
    for (let n = 0; n < 3; n++) await pass(t, 1000);
    assert.equal(calls.space, 3);
    admission.stop();
    await pass(t, 5000);
    assert.equal(calls.space, 3);
  });
});
