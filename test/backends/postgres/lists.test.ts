import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { EventFilter, EventStore } from "../../../src/events/store.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { readListed } from "../../../src/postgres/event-reads.ts";
import { CANDIDATES } from "../../../src/postgres/event-retention.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { listStatements } from "../../../src/postgres/lists-sql.ts";
import { SETTINGS } from "../../../src/postgres/queries.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { claim, fanOut, NOW, newEvent } from "../../helpers/events.ts";
import { reusedPostgres, tempPostgres } from "../../helpers/postgres.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

const open = async (t: Cleanup) => {
  const { postgres } = await reusedPostgres(t);
  return { postgres, store: createPostgresEventStore(postgres) };
};

const idsOf = async (store: EventStore, filter: Omit<EventFilter, "limit">) =>
  (await store.list({ ...filter, limit: 10 })).items.map(({ eventId }) => eventId).join("");

suite("a list of events on PostgreSQL", needsPostgres(), () => {
  test("by a text with U+0000, which PostgreSQL cannot store, is empty", async (t) => {
    const { store } = await open(t);
    await store.append([newEvent()]);
    await claim(store);
    for (const name of ["type", "source", "route", "error", "search"])
      assert.equal(await idsOf(store, { [name]: "a\0" }), "", name);
    assert.deepEqual([await store.get("e-1\0"), await store.get("e-1", "default\0")], [[], []]);
  });

  test("by a part of the payload finds events before and after their fan-out at once", async (t) => {
    const { store } = await open(t);
    await store.append([newEvent({ eventId: "a" })]);
    await fanOut(store);
    await store.append([newEvent({ eventId: "b", receivedAt: NOW + 60_000 })]);
    assert.equal(await idsOf(store, { search: '"a"' }), "ba");
    assert.equal(await idsOf(store, { search: '"a"', since: NOW + 1 }), "b");
  });

  test("until a time are complete beside a server of the version before, which notes only first events", async (t) => {
    const { postgres, store } = await open(t);
    const add = async (eventId: string, minute: number) => {
      await store.append([newEvent({ eventId, receivedAt: NOW + minute * 60_000 })]);
      await fanOut(store);
    };
    for (const eventId of "ab") await add(eventId, 0);
    await postgres.run("UPDATE authserve.events_by_minute SET last_event = first_event");
    assert.equal(await idsOf(store, { until: NOW + 60_000 }), "ba");
    await add("c", 2);
    await postgres.run(`UPDATE authserve.events_by_minute SET last_event = 0 WHERE minute > ${NOW / 60_000}`);
    assert.equal(await idsOf(store, { until: NOW + 60_000 }), "ba");
    assert.equal(await idsOf(store, { until: NOW + 180_000 }), "cba");
  });

  test("by a part of large payloads searches them in several steps", async (t) => {
    const { postgres, store } = await open(t);
    await store.append(
      [..."abcdef"].map((eventId) => newEvent({ eventId, payload: Buffer.from(`wanted ${eventId}`) })),
    );
    await fanOut(store);
    // One of them is as large as a step, and three others are larger together.
    await postgres.run("UPDATE authserve.events SET size = CASE event_id WHEN 'c' THEN 100 ELSE 30 END * 1024 * 1024");
    assert.equal(await idsOf(store, { search: "wanted" }), "fedcba");
    const { items, older } = await store.list({ search: "wanted", limit: 2 });
    assert.equal(await idsOf(store, { search: "wanted", before: older ?? "" }), "dcba");
    assert.deepEqual([items.length, await idsOf(store, { search: "wanted e" })], [2, "e"]);
  });
});

const EVENTS = 40_000;

/** Many identities of removed events between a few events, which are old ones and new ones. */
const FILL = [
  `INSERT INTO authserve.events (id, source, event_id, type, received_at, size)
   SELECT n, 'x', n, CASE n % 1000 WHEN 1 THEN 'rare' ELSE 'a' END, ${NOW} + n * 1000, 100 FROM generate_series(1, ${EVENTS}) AS n`,
  `INSERT INTO authserve.contents (event, secret, address, headers, content_type, payload)
   SELECT id, '', '', '{}', '', '' FROM authserve.events WHERE id <= 20 OR id > ${EVENTS} - 5000`,
  `INSERT INTO authserve.jobs (event, route, status, ended_at)
   SELECT event, 'default', CASE WHEN event <= 10 THEN 'failed' ELSE 'processed' END, ${NOW} FROM authserve.contents
   WHERE event > 5`,
  "INSERT INTO authserve.unrouted SELECT event FROM authserve.contents WHERE event <= 5",
  "INSERT INTO authserve.events_by_minute SELECT received_at / 60000, min(id), max(id) FROM authserve.events GROUP BY 1",
];

suite("with many removed events in PostgreSQL", needsPostgres(), () => {
  let postgres: Postgres;
  const ends: (() => void | Promise<void>)[] = [];

  before(async () => {
    ({ postgres } = await tempPostgres({ after: (end) => void ends.push(end) }));
    for (const statement of FILL) await postgres.run(statement);
    await postgres.run("ANALYZE");
  });

  after(async () => {
    for (const end of ends) await end();
  });

  /** PostgreSQL's plan of a statement, with the rows that it has read. */
  async function planOf(text: string, values: readonly unknown[]): Promise<string[]> {
    const rows = await postgres.transaction(async (queries) => {
      for (const setting of SETTINGS) await queries.run(setting);
      return queries.rows<{ "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`, values);
    });
    return rows.map((row) => row["QUERY PLAN"]);
  }

  /** The rows that a plan read and left out, of each table. */
  function rowsRead(plan: readonly string[]): number {
    const counts = plan.flatMap((line) => {
      const [, rows, loops] = /Scan.*actual rows=([0-9.]+) loops=([0-9]+)/.exec(line) ?? [];
      const [, removed] = /Rows Removed by Filter: ([0-9]+)/.exec(line) ?? [];
      return [Number(rows ?? 0) * Number(loops ?? 0), Number(removed ?? 0)];
    });
    return Math.max(...counts);
  }

  const filters: Record<string, [index: RegExp, filter: Omit<EventFilter, "limit">]> = {
    everything: [/contents_pkey/, {}],
    "everything before the removed events": [/contents_pkey/, { before: "1000" }],
    "a queued status": [/unrouted_pkey|jobs_open/, { status: "queued" }],
    "a failed status": [/jobs_open/, { status: "failed" }],
    "a processed status": [/contents_pkey/, { status: "processed" }],
    "a rare type": [/events_type/, { type: "rare" }],
    "a source since a time": [/events_source|events_pkey/, { source: "x", since: NOW + (EVENTS - 50) * 1000 }],
    "a source since a time before a cursor": [
      /events_source|events_pkey/,
      { source: "x", since: NOW + (EVENTS - 4000) * 1000, before: String(EVENTS - 1000) },
    ],
    "the end of a time": [/contents_pkey/, { until: NOW + (EVENTS - 50) * 1000 }],
    "the end of a time long ago": [/contents_pkey/, { until: NOW + 10_000 }],
    "a type until a time long ago": [/events_type|events_pkey/, { type: "a", until: NOW + 10_000 }],
    "a time": [/contents_pkey/, { since: NOW + (EVENTS - 50) * 1000 }],
  };
  for (const [what, [index, filter]] of Object.entries(filters)) {
    test(`a list by ${what} reads an index in order, and little more than its page`, async () => {
      const { oldest, newest } = await readListed(postgres, { ...filter, limit: 10 });
      const listed = { after: String(oldest - 1), before: String(newest + 1) };
      for (const { text, values } of listStatements({ ...listed, ...filter, limit: 10 })) {
        const plan = await planOf(text, values);
        assert.match(plan.join("\n"), index);
        assert.doesNotMatch(plan.join("\n"), /Seq Scan|Sort Method: (?:top-N|external)/);
        assert.ok(rowsRead(plan) <= 200, plan.join("\n"));
      }
    });
  }

  test("a page of events to remove reads little more than its rows", async () => {
    const plan = await planOf(CANDIDATES, [0, 100]);
    assert.ok(rowsRead(plan) <= 200, plan.join("\n"));
  });
});
