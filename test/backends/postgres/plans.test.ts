import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { EventFilter } from "../../../src/events/store.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { CANDIDATES, OLD_IDS } from "../../../src/postgres/event-retention.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { listStatements } from "../../../src/postgres/lists-sql.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { fanOut, NOW, newEvent } from "../../helpers/events.ts";
import { tempPostgres } from "../../helpers/postgres.ts";

const EVENTS = 5000;
const BATCH = 1000;

/** The rows that a statement read of each table, by its plan. */
async function rowsRead(postgres: Postgres, text: string, values: readonly unknown[]): Promise<number> {
  const rows = await postgres.rows<{ "QUERY PLAN": string }>(
    `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`,
    values,
  );
  const scans = rows.map((row) => row["QUERY PLAN"]).filter((line) => /Scan/.test(line));
  const read = scans.map((line) => {
    const [, count = "0", loops = "0"] = /actual rows=([0-9.]+) loops=([0-9]+)/.exec(line) ?? [];
    return Number(count) * Number(loops);
  });
  return Math.max(0, ...read);
}

suite("with many events in PostgreSQL", needsPostgres(), () => {
  let postgres: Postgres;
  const ends: (() => void | Promise<void>)[] = [];

  before(async () => {
    ({ postgres } = await tempPostgres({ after: (end) => void ends.push(end) }));
    const store = createPostgresEventStore(postgres);
    for (let from = 0; from < EVENTS; from += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, n) =>
        newEvent({
          eventId: `e-${from + n}`,
          type: (from + n) % 2 ? "a" : "b",
          source: (from + n) % 2 ? "x" : "y",
          receivedAt: NOW + 60_000 * Math.floor((from + n) / 10),
        }),
      );
      await store.append(batch);
      if (from + BATCH < EVENTS) await fanOut(store);
    }
    // Half of the events with jobs have failed.
    await postgres.run("UPDATE authserve.jobs SET status = 'failed', due_at = NULL WHERE event % 2 = 0");
    await postgres.run("ANALYZE");
  });

  after(async () => {
    for (const end of ends) await end();
  });

  const middle = String(EVENTS / 2);
  const filters: Record<string, Omit<EventFilter, "limit">> = {
    everything: {},
    "everything before a cursor": { before: middle },
    "a queued status": { status: "queued" },
    "a failed status before a cursor": { status: "failed", before: middle },
    "a type": { type: "a" },
    "a source before a cursor": { source: "x", before: middle },
    "a time": { since: NOW + 60_000 * 400 },
    "a type since a time": { type: "a", since: NOW + 60_000 * 400 },
  };
  for (const [what, filter] of Object.entries(filters)) {
    test(`a list by ${what} reads little more than its page`, async () => {
      for (const { text, values } of listStatements({ ...filter, limit: 10 })) {
        const read = await rowsRead(postgres, text, values);
        assert.ok(read <= 100, `${read} rows for a page of 10: ${text}`);
      }
    });
  }

  for (const [what, text, values] of [
    ["events to remove", CANDIDATES, [EVENTS / 2, 10]],
    ["ids to remove", OLD_IDS, [EVENTS / 2, 10]],
  ] as const) {
    test(`a page of ${what} reads little more than its rows`, async () => {
      const read = await rowsRead(postgres, text, values);
      assert.ok(read <= 100, `${read} rows for 10`);
    });
  }
});
