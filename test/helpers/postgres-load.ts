import assert from "node:assert/strict";
import { ask, deliver, event, logIn, me } from "./client.ts";
import { MISCOUNTED, withDatabase } from "./postgres-rows.ts";
import { type Server, startServer } from "./server.ts";
import { type ForwardTarget, startTarget } from "./target.ts";
import type { Cleanup } from "./temp-dir.ts";
import { until } from "./until.ts";

/** `DATABASE_TIMEOUT` of the servers. */
const TIMEOUT_MS = 1000;
// A busy machine adds this to an answer.
const SLACK_MS = 1500;
const HEALS_WITHIN_MS = 2000;
const SENDERS = 4;

/** A server on PostgreSQL that gets deliveries all the time, and forwards them to a target. */
export interface Load {
  server: Server;
  /** Waits until this many further deliveries are acknowledged. */
  acknowledged(count: number): Promise<void>;
  /** Asserts that deliveries, `/auth/me` and `/readyz` are answered 503 within the time limit. */
  isUnavailable(): Promise<void>;
  /** Asserts that the server works again within 2 s. */
  heals(): Promise<void>;
  /** Ends the deliveries. Asserts that each acknowledged event is stored, processed once, and reached the target once. */
  isComplete(): Promise<void>;
}

/** Starts a server with a load. `adminUrl` leads to the database also while the server cannot reach it. */
export async function startLoad(
  t: Cleanup,
  { url, adminUrl = url, env = {} }: { url: string; adminUrl?: string | (() => string); env?: Record<string, string> },
): Promise<Load> {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const server = await startServer({
    env: { DATABASE_URL: url, DATABASE_TIMEOUT: `${TIMEOUT_MS}ms`, FORWARD_URL: target.url, ...env },
  });
  t.after(() => server[Symbol.asyncDispose]());
  const token = await logIn(server);
  const acknowledged = new Set<string>();
  const problems: string[] = [];
  let isOver = false;
  let number = 0;

  async function send(): Promise<void> {
    while (!isOver) {
      const id = `evt_${number++}`;
      // As a provider does: the same event again until it is acknowledged.
      while (!isOver) {
        const startedAt = performance.now();
        const { status, text } = await deliver(server, event(id));
        const tookMs = performance.now() - startedAt;
        if (tookMs > TIMEOUT_MS + SLACK_MS)
          problems.push(`${id} was answered ${status} after ${Math.round(tookMs)} ms`);
        if (status === 200) {
          acknowledged.add(id);
          break;
        }
        if (status !== 503) problems.push(`${id} was answered ${status} ${text}`);
      }
    }
  }
  const senders = Array.from({ length: SENDERS }, send);

  async function unavailable(request: () => Promise<{ status: number }>): Promise<void> {
    // A request that began before the fault may still succeed.
    await until(async () => (await request()).status === 503, 2 * (TIMEOUT_MS + SLACK_MS));
    const startedAt = performance.now();
    assert.equal((await request()).status, 503);
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < TIMEOUT_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);
  }

  return {
    server,
    acknowledged: async (count) => {
      const enough = acknowledged.size + count;
      await until(() => acknowledged.size >= enough, 20_000);
    },
    async isUnavailable() {
      await unavailable(() => deliver(server, event("evt_unavailable")));
      await unavailable(() => me(server, token));
      await unavailable(() => ask(server, "/readyz"));
    },
    async heals() {
      await until(async () => (await me(server, token)).status === 200, HEALS_WITHIN_MS);
      await until(async () => (await ask(server, "/readyz")).status === 200, HEALS_WITHIN_MS);
      const before = acknowledged.size;
      await until(() => acknowledged.size > before, HEALS_WITHIN_MS);
    },
    async isComplete() {
      isOver = true;
      await Promise.all(senders);
      assert.deepEqual(problems, []);
      await withDatabase(typeof adminUrl === "string" ? adminUrl : adminUrl(), async (rows) => {
        // A lease of an attempt that the fault hit may have to expire first.
        await until(async () => (await rows(OPEN)).length === 0, 40_000);
        const stored = new Set((await rows(STORED)).map(({ event_id }) => event_id));
        assert.deepEqual(
          [...acknowledged].filter((id) => !stored.has(id)),
          [],
        );
        assert.deepEqual(await rows(NOT_ONCE), []);
        assert.deepEqual(await rows(MISCOUNTED), []);
        reachedOnce(target, [...acknowledged]);
      });
    },
  };
}

function reachedOnce(target: ForwardTarget, ids: readonly string[]): void {
  const times = new Map<string, number>();
  for (const { headers } of target.received) {
    const id = String(headers["x-event-id"]);
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  assert.deepEqual(
    ids.filter((id) => times.get(id) !== 1),
    [],
  );
}

/** Events that are not processed yet. */
const OPEN = `
SELECT event FROM authserve.unrouted UNION ALL SELECT event FROM authserve.jobs WHERE status <> 'processed'`;

const STORED = "SELECT event_id FROM authserve.events";

/** Jobs that did not succeed exactly once. */
const NOT_ONCE = `
SELECT event_id, outcomes FROM authserve.events LEFT JOIN (
  SELECT event, array_agg(outcome ORDER BY attempt) AS outcomes FROM authserve.attempts GROUP BY event) AS history ON event = id
WHERE outcomes IS NULL OR cardinality(array_positions(outcomes, 'succeeded')) <> 1`;
