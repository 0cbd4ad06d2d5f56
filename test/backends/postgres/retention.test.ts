import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Purged } from "../../../src/events/pages.ts";
import { DEFAULT_RETENTION, type Retention } from "../../../src/events/retention.ts";
import type { EventStore } from "../../../src/events/store.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { claim, claimOf, NOW, newEvent, numbersOf } from "../../helpers/events.ts";
import { openPostgres, reusedPostgres } from "../../helpers/postgres.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { until } from "../../helpers/until.ts";

const MINUTE = 60_000;
const none = { count: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

/** Keeps events for one minute, and ids for two. */
const SHORT: Retention = {
  processed: { forMs: MINUTE, ...none },
  failed: { forMs: MINUTE, ...none },
  idsMs: 2 * MINUTE,
  maxBytes: Number.POSITIVE_INFINITY,
};

/** Statements in this database that wait for a lock. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** The stores of two servers on one database. */
async function openTwo(t: Cleanup): Promise<{ postgres: Postgres; stores: [EventStore, EventStore] }> {
  const { postgres, url } = await reusedPostgres(t);
  return { postgres, stores: [createPostgresEventStore(postgres), createPostgresEventStore(openPostgres(t, url))] };
}

/** Stores events that are processed, or that failed. */
async function add(store: EventStore, count: number, to: "processed" | "failed" = "processed"): Promise<void> {
  await store.append(Array.from({ length: count }, (_, n) => newEvent({ eventId: `e-${n}` })));
  const { claimed } = await claim(store, { limit: count });
  const next = to === "processed" ? ({ to } as const) : ({ to, reason: "no" } as const);
  const end = { next, startedAt: NOW, finishedAt: NOW, error: to === "failed" ? "no" : null };
  await store.settle(claimed.map((job) => ({ ...claimOf(job), ...end })));
}

/** Stores an event that no route matched. */
async function addPending(store: EventStore): Promise<number> {
  await store.append([newEvent()]);
  const [event] = numbersOf(await store.pending(1));
  await store.addJobs([event as number], []);
  return event as number;
}

/** Purges page by page. */
async function purge(store: EventStore, now: number, retention = SHORT, isDryRun = false): Promise<Purged> {
  const purged = { events: 0, ids: 0, bytes: 0 };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.purge({ retention, now, limit: 10, isDryRun, cursor });
    for (const name of ["events", "ids", "bytes"] as const) purged[name] += page[name];
    cursor = page.next;
  }
  return purged;
}

/** Purges while a transaction is open that has made a change. The change is committed once the purge waits for it. */
async function purgeDuring(
  { postgres, stores: [store] }: Awaited<ReturnType<typeof openTwo>>,
  changes: readonly string[],
): Promise<Purged> {
  let purging: Promise<Purged> | undefined;
  await postgres.transaction(async (queries) => {
    for (const change of changes) await queries.run(change);
    purging = purge(store, NOW + MINUTE);
    await until(async () => (await postgres.rows(WAITING)).length > 0);
  });
  return purging as Promise<Purged>;
}

suite("a purge on PostgreSQL", needsPostgres(), () => {
  test("at the same time as another one removes and counts each event and each id once", async (t) => {
    const { stores } = await openTwo(t);
    await add(stores[0], 200);
    for (const [name, now, expected] of [
      ["events", NOW + MINUTE, 200],
      ["ids", NOW + 2 * MINUTE, 199],
    ] as const) {
      const pages = await Promise.all(stores.map((store) => purge(store, now)));
      assert.equal(
        pages.reduce((sum, page) => sum + page[name], 0),
        expected,
      );
    }
    const { processed, ids } = await stores[0].backlog();
    assert.deepEqual([processed, ids], [0, 1]);
    assert.equal((await stores[0].routes(NOW))[0]?.processed, 0);
  });

  test("keeps an event that is replayed meanwhile", async (t) => {
    const database = await openTwo(t);
    await add(database.stores[0], 1, "failed");
    const replay = "UPDATE authserve.jobs SET status = 'queued', due_at = 0";
    assert.equal((await purgeDuring(database, [replay])).events, 0);
    assert.equal((await database.stores[0].get("e-0"))[0]?.status, "queued");
  });

  test("keeps an event that has failed again meanwhile", async (t) => {
    const database = await openTwo(t);
    await add(database.stores[0], 1, "failed");
    const failAgain = `UPDATE authserve.jobs SET attempts = 2, ended_at = ${NOW + MINUTE}`;
    assert.equal((await purgeDuring(database, [failAgain])).events, 0);
    assert.equal((await database.stores[0].get("e-0"))[0]?.attempts, 2);
  });

  test("keeps an event without jobs that a forced replay gives jobs meanwhile", async (t) => {
    const database = await openTwo(t);
    const [store] = database.stores;
    const event = await addPending(store);
    await store.reroute({ eventId: "e-1", source: "default" });
    const addJob = `INSERT INTO authserve.jobs (event, route, status, due_at) VALUES (${event}, 'default', 'queued', 0)`;
    assert.equal((await purgeDuring(database, ["DELETE FROM authserve.reroutes", addJob])).events, 0);
    assert.equal((await store.get("e-1"))[0]?.status, "queued");
  });

  test("keeps an old event before its fan-out, and removes newer ones", async (t) => {
    const [store] = (await openTwo(t)).stores;
    await store.append(["first", "second"].map((eventId) => newEvent({ eventId })));
    const [, second] = numbersOf(await store.pending(2));
    await store.addJobs([second as number], []);
    assert.deepEqual(await purge(store, NOW + 1e12), { events: 1, ids: 0, bytes: 28 });
    assert.equal((await store.get("first"))[0]?.status, "queued");
  });

  test("by the size of the database counts the same in a dry run, over several pages", async (t) => {
    const { stores } = await openTwo(t);
    await add(stores[0], 50);
    const { bytes } = await stores[0].backlog();
    const retention = { ...DEFAULT_RETENTION, maxBytes: Math.floor(bytes / 2) };
    const counted = await purge(stores[0], NOW, retention, true);
    assert.deepEqual(await purge(stores[0], NOW, retention), counted);
    assert.ok(counted.events > 20 && counted.events < 50, `${counted.events} events`);
  });
});

suite("the counts on PostgreSQL", needsPostgres(), () => {
  test("stay right while two servers add to them and fold them", async (t) => {
    const { postgres, stores } = await openTwo(t);
    const append = (n: number) => stores[n % 2 ? 0 : 1].append([newEvent({ eventId: `e-${n}` })]);
    for (let from = 0; from < 1000; from += 50)
      await Promise.all(Array.from({ length: 50 }, (_, n) => append(from + n)));
    const { queued, ids } = await stores[0].backlog();
    assert.deepEqual([queued, ids], [1000, 1000]);
    const [row] = await postgres.rows<{ count: number }>("SELECT count(*) AS count FROM authserve.tally");
    assert.ok((row?.count ?? 0) < 1000, `${row?.count} rows`);
  });
});
