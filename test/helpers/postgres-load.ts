import assert from "node:assert/strict";
import { ask, deliver, event, logIn, me } from "./client.ts";
import { MISCOUNTED, withDatabase } from "./postgres-rows.ts";
import { type Server, startServer } from "./server.ts";
import { type ForwardTarget, startTarget } from "./target.ts";
import type { Cleanup } from "./temp-dir.ts";
import { HANG_MS, until } from "./until.ts";

const SENDERS = 4;

/** A server on PostgreSQL that gets deliveries all the time, and forwards them to a target. */
interface Load {
  server: Server;
  /** Waits until this many further deliveries are acknowledged. */
  acknowledged(count: number): Promise<void>;
  /** Waits until deliveries, `/auth/me` and `/readyz` are answered 503. */
  isUnavailable(): Promise<void>;
  /** Waits until the server works again. */
  heals(): Promise<void>;
  /** From now on each delivery goes to this server or to the first one, by chance. */
  alsoTo(server: Server): void;
  /**
   * Ends the deliveries. Asserts that each acknowledged event is stored, processed once, and reached the target once.
   */
  isComplete(): Promise<void>;
}

interface LoadOptions {
  url: string;
  /** Leads to the database also while the server cannot reach it. */
  adminUrl?: string;
  /** The server's time limit. A short one is needed for a database that hangs. */
  timeoutMs?: number;
  env?: Record<string, string>;
}

/** Starts a server with a load. */
export async function startLoad(
  t: Cleanup,
  { url, adminUrl = url, timeoutMs = HANG_MS, env = {} }: LoadOptions,
): Promise<Load> {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const options = {
    env: { DATABASE_URL: url, DATABASE_TIMEOUT: `${timeoutMs}ms`, FORWARD_URL: target.url, ...env },
  };
  // On a machine that stalls, a start may exceed a short limit.
  const server = await until(() => startServer(options).catch(() => null));
  t.after(() => server[Symbol.asyncDispose]());
  const token = await until(() => logIn(server).catch(() => null));
  const servers = [server];
  const acknowledged = new Set<string>();
  const problems: string[] = [];
  let isOver = false;
  let number = 0;

  async function send(): Promise<void> {
    while (!isOver) {
      const id = `evt_${number++}`;
      // As a provider does: the same event again until it is acknowledged.
      while (!isOver) {
        const one = servers[Math.floor(Math.random() * servers.length)] as Server;
        const { status, text } = await deliver(one, event(id));
        if (status === 200) {
          acknowledged.add(id);
          break;
        }
        if (status !== 503) problems.push(`${id} was answered ${status} ${text}`);
      }
    }
  }
  const senders = Array.from({ length: SENDERS }, send);

  /** A request that began before the fault may still succeed. */
  async function refuses(request: () => Promise<{ status: number }>): Promise<void> {
    await until(async () => (await request()).status === 503);
    assert.equal((await request()).status, 503);
  }

  /** The server answers that it works. */
  async function serves(request: () => Promise<{ status: number }>): Promise<void> {
    await until(async () => (await request()).status === 200);
  }

  return {
    server,
    acknowledged: async (count) => {
      const enough = acknowledged.size + count;
      await until(() => acknowledged.size >= enough);
    },
    async isUnavailable() {
      await refuses(() => deliver(server, event("evt_unavailable")));
      await refuses(() => me(server, token));
      await refuses(() => ask(server, "/readyz"));
    },
    async heals() {
      await serves(() => me(server, token));
      await serves(() => ask(server, "/readyz"));
      const before = acknowledged.size;
      await until(() => acknowledged.size > before);
    },
    alsoTo: (other) => void servers.push(other),
    async isComplete() {
      isOver = true;
      await Promise.all(senders);
      assert.deepEqual(problems, []);
      await withDatabase(adminUrl, async (rows) => {
        // A lease of an attempt that the fault hit may have to expire first.
        await until(async () => (await rows(OPEN)).length === 0);
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
