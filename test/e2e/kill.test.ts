import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Sqlite from "better-sqlite3";
import { deliver, event } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { list, stats } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** More rounds find rarer faults: `KILL_ROUNDS=200`. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 3);
/** The server is killed after at most this many acknowledged deliveries. */
const WITHIN = Number(process.env.KILL_WITHIN ?? 200);
const SENDERS = 8;

/** Delivers without a pause until the server is killed. Adds the acknowledged ids. The sender is the ordering key. */
async function deliverUntilKilled(server: Server, round: number, sender: number, acknowledged: Set<string>) {
  for (let n = 0; ; n++) {
    const id = `r${round}-s${sender}-${n}`;
    try {
      const answer = await deliver(server, event(id, { sender }));
      assert.equal(answer.status, 200, answer.text);
      acknowledged.add(id);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
  }
}

const LATER_BEGAN_FIRST = `
SELECT later.event FROM jobs AS later JOIN jobs AS earlier
  ON earlier.event = (SELECT max(event) FROM jobs AS other
    WHERE other.route = later.route AND other.ordering_key = later.ordering_key AND other.event < later.event)
  AND earlier.route = later.route
WHERE (SELECT min(started_at) FROM attempts WHERE event = later.event AND route = later.route)
  < (SELECT max(finished_at) FROM attempts WHERE event = earlier.event AND route = earlier.route)`;

const NOT_SETTLED_ONCE = `
SELECT event, route FROM jobs
WHERE (SELECT count(*) FROM attempts WHERE event = jobs.event AND route = jobs.route AND outcome = 'succeeded') <> 1
  OR (SELECT count(*) FROM attempts WHERE event = jobs.event AND route = jobs.route) <> attempts`;

test(`after ${ROUNDS} kill -9 under load every acknowledged event is stored, and each of its jobs is settled once, in order`, async (t) => {
  await using target = await startTarget();
  await using ordered = await startTarget();
  // Each kill may use up an attempt of the running events, so there must be more attempts than rounds.
  const retry = "retry: { attempts: 100, delay: 10ms, maxDelay: 50ms }";
  const dir = workingDir();
  writeFileSync(
    join(dir, "authserve.yaml"),
    `routes:\n  - { name: free, to: "${target.url}", ${retry} }\n  - { name: ordered, to: "${ordered.url}", orderBy: sender, ${retry} }\n`,
  );
  const env = { LOG_LEVEL: "info" };
  const acknowledged = new Set<string>();
  let server = await startServer({ env, dir });
  for (let round = 0; round < ROUNDS; round++) {
    const senders = Array.from({ length: SENDERS }, (_, n) => deliverUntilKilled(server, round, n, acknowledged));
    const startedAt = performance.now();
    const before = acknowledged.size;
    const killAt = acknowledged.size + 1 + Math.floor(Math.random() * WITHIN);
    await until(() => acknowledged.size >= killAt, 20_000);
    const perSecond = ((acknowledged.size - before) * 1000) / (performance.now() - startedAt);
    t.diagnostic(`round ${round + 1}: killed at ${acknowledged.size} acknowledged, ${Math.round(perSecond)}/s`);
    assert.deepEqual(await server.kill(), { code: null, signal: "SIGKILL" });
    await Promise.all(senders);
    server = await startServer({ env, dir });
  }
  await using last = server;
  await until(async () => (await stats(last)).queued === 0, 60_000);

  const stored = await list(last, "--limit", "999999");
  const ids = new Set(stored.map(({ eventId }) => eventId));
  assert.deepEqual(
    [...acknowledged].filter((id) => !ids.has(id)),
    [],
  );
  assert.equal(stored.length, ids.size);
  assert.deepEqual(
    stored.filter(({ status }) => status !== "processed"),
    [],
  );
  for (const { received } of [target, ordered]) {
    const forwarded = new Set(received.map(({ headers }) => headers["x-event-id"]));
    assert.deepEqual(
      [...ids].filter((id) => !forwarded.has(id)),
      [],
    );
  }

  const database = new Sqlite(join(dir, "data", "authserve.db"), { readonly: true });
  try {
    assert.equal(database.prepare("SELECT count(*) FROM jobs").pluck().get(), 2 * ids.size);
    assert.deepEqual(database.prepare(NOT_SETTLED_ONCE).all(), []);
    assert.deepEqual(database.prepare(LATER_BEGAN_FIRST).all(), []);
    assert.equal(database.pragma("integrity_check", { simple: true }), "ok");
  } finally {
    database.close();
  }
});
