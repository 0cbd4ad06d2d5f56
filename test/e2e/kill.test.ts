import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Sqlite from "better-sqlite3";
import { deliver, event } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { list, stats } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";

/** More rounds find rarer faults: `KILL_ROUNDS=200`. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 3);
/** The server is killed after at most this many acknowledged deliveries. */
const WITHIN = Number(process.env.KILL_WITHIN ?? 200);
const SENDERS = 8;

/** Delivers without a pause until the server is killed. Adds the acknowledged ids. */
async function deliverUntilKilled(server: Server, prefix: string, acknowledged: Set<string>): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `${prefix}-${n}`;
    try {
      const answer = await deliver(server, event(id));
      assert.equal(answer.status, 200, answer.text);
      acknowledged.add(id);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
  }
}

test(`after ${ROUNDS} kill -9 under load every acknowledged event is stored, and every stored one is processed once`, async (t) => {
  await using target = await startTarget();
  // Each kill may use up an attempt of the running events, so there must be more attempts than rounds.
  const env = { FORWARD_URL: target.url, RETRY_ATTEMPTS: "100", RETRY_DELAY: "10ms", LOG_LEVEL: "info" };
  const acknowledged = new Set<string>();
  let server = await startServer({ env });
  const { dir } = server;
  for (let round = 0; round < ROUNDS; round++) {
    const senders = Array.from({ length: SENDERS }, (_, n) =>
      deliverUntilKilled(server, `r${round}-s${n}`, acknowledged),
    );
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
  await until(async () => (await stats(last)).queued === 0, 30_000);

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
  const forwarded = new Set(target.received.map(({ headers }) => headers["x-event-id"]));
  assert.deepEqual(
    [...ids].filter((id) => !forwarded.has(id)),
    [],
  );

  const database = new Sqlite(join(dir, "data", "authserve.db"), { readonly: true });
  try {
    const wrong = database.prepare(`
      SELECT event_id FROM events
      WHERE (SELECT count(*) FROM attempts WHERE event = events.id AND outcome = 'succeeded') <> 1
        OR (SELECT count(*) FROM attempts WHERE event = events.id) <> (SELECT attempts FROM jobs WHERE event = events.id)`);
    assert.deepEqual(wrong.all(), []);
    assert.equal(database.pragma("integrity_check", { simple: true }), "ok");
  } finally {
    database.close();
  }
});
