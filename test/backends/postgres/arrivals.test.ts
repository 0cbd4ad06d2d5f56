import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { Client } from "pg";
import type { EventStore } from "../../../src/events/store.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { newEvent } from "../../helpers/events.ts";
import { openPostgres, tempPostgres } from "../../helpers/postgres.ts";
import { until } from "../../helpers/until.ts";

/** Stores as each server has one, and connections of other programs. */
async function open(t: TestContext) {
  const { url } = await tempPostgres(t);
  const openStore = () => createPostgresEventStore(openPostgres(t, url));
  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: url });
    // The database is removed under it.
    client.on("error", () => {});
    await client.connect();
    t.after(() => client.end());
    return client;
  }
  return { store: openStore(), openStore, connect, other: await connect() };
}

const idsAfter = async (store: EventStore, after: number) =>
  (await store.arrivals(after, 100)).items.map(({ eventId }) => eventId);

/** Adds an event as a slow server does: it takes the number first, and then nothing for a while. */
const slowInsert = (eventId: string, seconds: number) => `
WITH taken AS MATERIALIZED (SELECT nextval('authserve.events_id_seq') AS id),
  added AS (INSERT INTO authserve.events (id, source, event_id, type, received_at, size)
    SELECT id, 'default', '${eventId}', 'push', 0, 0 FROM taken, pg_sleep(${seconds}) RETURNING id)
INSERT INTO authserve.contents (event, secret, address, headers, content_type, payload)
SELECT id, '', '', '{}', '', '' FROM added`;

suite("arrivals on PostgreSQL", needsPostgres(), () => {
  for (const [end, expected] of [
    ["COMMIT", ["slow", "fast"]],
    ["ROLLBACK", ["fast"]],
  ] as const) {
    test(`an event behind one that is not committed waits for its ${end}`, async (t) => {
      const { store, other } = await open(t);
      await other.query("BEGIN");
      await other.query(slowInsert("slow", 0));
      await store.append([newEvent({ eventId: "fast" })]);
      assert.deepEqual(await idsAfter(store, 0), []);
      await other.query(end);
      await until(async () => (await idsAfter(store, 0)).length > 0);
      assert.deepEqual(await idsAfter(store, 0), expected);
    });
  }

  test("a number that was taken before its transaction has an id is waited for", async (t) => {
    const { store, other, connect } = await open(t);
    const watcher = await connect();
    const last = async () => (await watcher.query("SELECT last_value, is_called FROM authserve.events_id_seq")).rows[0];
    const before = await last();
    const inserted = other.query(slowInsert("slow", 0.5));
    await until(async () => !isDeepStrictEqual(await last(), before));
    await store.append([newEvent({ eventId: "fast" })]);
    const found = await until(async () => {
      const ids = await idsAfter(store, 0);
      return ids.length > 0 && ids;
    });
    await inserted;
    assert.deepEqual(found, ["slow", "fast"]);
  });

  test("a transaction of another program that writes other tables delays nothing", async (t) => {
    const { store, other } = await open(t);
    await other.query("BEGIN");
    await other.query("CREATE TABLE public.unrelated (id bigint)");
    await store.append([newEvent({ eventId: "a" })]);
    assert.deepEqual(await idsAfter(store, 0), ["a"]);
    await other.query("ROLLBACK");
  });

  test("no event is missed, and none comes twice, while several servers add events", async (t) => {
    const { store: reader, openStore } = await open(t);
    const stores = [openStore(), openStore(), openStore()];
    let after = await reader.arrivalsSince(null);
    let round = 0;
    const batch = fc.record({ server: fc.nat(2), size: fc.integer({ min: 1, max: 5 }), waitMs: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 20 }), async (batches) => {
        const name = `round-${++round}`;
        const seen: string[] = [];
        let isDone = false;
        const adding = Promise.all(
          batches.map(async ({ server, size, waitMs }, nth) => {
            await delay(waitMs);
            // A known event takes a number, too, and leaves it unused.
            const ids = [`${name}`, ...Array.from({ length: size }, (_, index) => `${name}-${nth}-${index}`)];
            await stores[server]?.append(ids.map((eventId) => newEvent({ eventId })));
            return ids;
          }),
        ).finally(() => {
          isDone = true;
        });
        const read = async () => {
          const { items, end } = await reader.arrivals(after, 3);
          seen.push(...items.map(({ eventId }) => eventId));
          const isMore = end > after;
          after = end;
          return isMore;
        };
        while (!isDone) await read();
        const added = new Set((await adding).flat());
        while (await read());
        assert.deepEqual(seen.toSorted(), [...added].sort());
      }),
      { numRuns: 30 },
    );
  });
});
