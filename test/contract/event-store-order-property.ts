import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { ClaimedJob, Next } from "../../src/events/job.ts";
import type { EventStore } from "../../src/events/store.ts";
import { claimOf, NOW, newEvent, numbersOf, replayAll } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const LEASE_MS = 1000;
const KEYS = ["a", "b", "c"];
/** More histories find rarer faults: `PROPERTY_RUNS=5000`. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 40);

type Step =
  | { do: "add"; keys: string[] }
  | { do: "claim"; limit: number }
  | { do: "settle"; pick: number; as: "processed" | "retried" | "failed" }
  /** The process ends: its attempts are never settled, and their leases expire. */
  | { do: "kill" }
  | { do: "replay" }
  | { do: "discard"; pick: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      keys: fc.array(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("claim" as const), limit: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      pick: fc.nat(9),
      as: fc.constantFrom("processed" as const, "processed" as const, "retried" as const, "failed" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "kill" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "replay" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("discard" as const), pick: fc.nat(50) }) },
);

/** Runs a history on a store, and checks each claim against what the order allows. */
class History {
  private readonly store: EventStore;
  private readonly blocks: boolean;
  /** The source of its events and the route of its jobs: histories share a store. */
  private readonly name: string;
  private readonly status = new Map<string, "queued" | "processed" | "failed">();
  /** The job of each key that has begun and not ended. */
  private readonly turn = new Map<string, string>();
  /** Jobs that were skipped once. After a replay they run when they can. */
  private readonly skipped = new Set<string>();
  private held: ClaimedJob[] = [];
  private now = NOW;

  constructor(store: EventStore, blocks: boolean, name: string) {
    this.store = store;
    this.blocks = blocks;
    this.name = name;
  }

  async run(one: Step): Promise<void> {
    this.now++;
    switch (one.do) {
      case "add":
        return this.add(one.keys);
      case "claim":
        return this.claim(one.limit);
      case "settle":
        return this.settle(this.held[one.pick % Math.max(1, this.held.length)], one.as);
      case "kill":
        this.held = [];
        this.now += LEASE_MS;
        return;
      case "discard":
        return this.discard([...this.status.keys()][one.pick % Math.max(1, this.status.size)]);
      case "replay":
        await replayAll(this.store, this.now);
        for (const [id, status] of this.status) if (status === "failed") this.status.set(id, "queued");
    }
  }

  private async add(keys: string[]): Promise<void> {
    const ids = keys.map((key, index) => `${key}${this.status.size + index}`);
    await this.store.append(ids.map((eventId) => newEvent({ source: this.name, eventId, receivedAt: this.now })));
    const events = await this.store.pending(100);
    const jobs = events.map(({ id }, index) => ({
      event: id,
      route: this.name,
      dueAt: this.now,
      orderingKey: keys[index] ?? "",
    }));
    await this.store.addJobs(numbersOf(events), jobs);
    for (const id of ids) this.status.set(id, "queued");
  }

  private async claim(limit: number): Promise<void> {
    const request = {
      route: this.name,
      owner: "w",
      limit,
      leaseMs: LEASE_MS,
      retryDelaysMs: Array(1000).fill(0),
      blocks: this.blocks,
    };
    const inProgress = this.held.map(({ event }) => event);
    const { claimed } = await this.store.claim({ ...request, now: this.now, inProgress });
    for (const job of claimed) this.check(job.eventId);
    this.held.push(...claimed);
  }

  private check(id: string): void {
    const key = id[0] as string;
    assert.ok(!this.held.some(({ eventId }) => eventId.startsWith(key)), `${id} runs beside another job of its key`);
    if (this.turn.get(key) === id) return;
    assert.equal(this.turn.get(key), undefined, `${id} begins before another job of its key has ended`);
    for (const [earlier, status] of this.status) {
      if (earlier === id) break;
      const mayWait = status === "processed" || this.skipped.has(earlier);
      assert.ok(!earlier.startsWith(key) || mayWait, `${id} begins before ${earlier}, which is ${status}`);
    }
    this.turn.set(key, id);
  }

  private async settle(job: ClaimedJob | undefined, as: "processed" | "retried" | "failed"): Promise<void> {
    if (!job) return;
    const next: Next =
      as === "retried"
        ? { to: "queued", runAt: this.now + 1 }
        : as === "failed"
          ? { to: "failed", reason: "no", blocks: this.blocks }
          : { to: "processed" };
    const times = { startedAt: this.now, finishedAt: this.now, error: as === "processed" ? null : "no" };
    assert.deepEqual(await this.store.settle([{ ...claimOf(job, "w"), next, ...times }]), [true]);
    this.held = this.held.filter((other) => other !== job);
    if (as === "retried") return;
    this.status.set(job.eventId, as);
    if (as === "failed" && !this.blocks) this.skipped.add(job.eventId);
    this.turn.delete(job.eventId[0] as string);
  }

  private async discard(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    if ((await this.store.discard({ eventId: id, source: this.name }, "no", this.now)) === 0) return;
    assert.ok(!this.held.some(({ eventId }) => eventId === id), `${id} is discarded while it runs`);
    this.status.set(id, "processed");
    const key = id[0] as string;
    if (this.turn.get(key) === id) this.turn.delete(key);
  }

  /** Processes everything that is left. */
  async finish(): Promise<void> {
    await this.run({ do: "kill" });
    await this.run({ do: "replay" });
    for (let rounds = 0; rounds < 3 * this.status.size + 3; rounds++) {
      await this.run({ do: "claim", limit: 100 });
      for (const job of [...this.held]) await this.settle(job, "processed");
    }
    const route = (await this.store.routes(NOW)).find((one) => one.route === this.name);
    assert.deepEqual([route?.queued ?? 0, route?.failed ?? 0], [0, 0], "a job was never due again");
  }
}

/** Whatever happens, jobs of a key run one at a time and in order, and none is forgotten. */
export function orderPropertyContract(adapter: string, open: OpenEventStore): void {
  suite(`event store: ${adapter}: order per key, for any history`, () => {
    for (const blocks of [true, false]) {
      test(`with dead letters that ${blocks ? "block" : "are skipped"}`, async (t) => {
        const store = await open(t);
        let count = 0;
        const history = async (steps: Step[]) => {
          const run = new History(store, blocks, `history-${count++}`);
          for (const one of steps) await run.run(one);
          await run.finish();
        };
        await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), history), { numRuns: RUNS });
      });
    }
  });
}
