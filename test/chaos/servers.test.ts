import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { needsAll, needsHaproxy, needsPostgres } from "../helpers/back-end.ts";
import { me } from "../helpers/client.ts";
import { needsFaketime } from "../helpers/fake-clock.ts";
import { MISCOUNTED, withDatabase } from "../helpers/postgres-rows.ts";
import type { Server } from "../helpers/server.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { startLogins, startSenders } from "./load.ts";
import { type Pair, startPair } from "./pair.ts";

/** More rounds find rarer faults: `CHAOS_ROUNDS=200`. A part of their names chooses some: `CHAOS_FAULTS=database`. */
const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 20);
const CHOSEN = process.env.CHAOS_FAULTS ?? "";
const SENDERS = 24;
// The longest pause of 200 rounds was 3 s. A busy machine needs more.
const HEALS_WITHIN_MS = 45_000;
// Without an end of a job for this long, the rest is stuck. Leases of the last fault may have to expire, and retries
// may wait. A key may be far behind: whenever a server that works on it is gone, all its events wait for the lease.
const STUCK_AFTER_MS = 60_000;

const random = (from: number, to: number) => from + Math.random() * (to - from);
const anyOf = <T>(all: readonly T[]) => all[Math.floor(Math.random() * all.length)] as T;

/** What happens in a round. */
const FAULTS: Record<string, (cluster: Cluster, pair: Pair) => Promise<void>> = {
  "a server is killed": ({ kill }) => kill(anyOf([0, 1, 2]), random(0, 1500)),
  "two servers are killed": async ({ kill }) => {
    const spared = anyOf([0, 1, 2]);
    await Promise.all([0, 1, 2].filter((index) => index !== spared).map((index) => kill(index, random(0, 1500))));
  },
  "a server hangs": ({ servers }) => hang(anyOf(servers()), random(200, 4000)),
  "a server hangs until its leases have ended": ({ servers }) => hang(anyOf(servers()), 16_000),
  "the database hangs": async (_, { primary }) => {
    primary().pause();
    await delay(random(200, 3000));
    primary().resume();
  },
  "the database is killed": async (_, { primary }) => {
    await primary().kill();
    await delay(random(0, 1000));
    await primary().restart();
  },
  "the database is restarted": async (_, { primary }) => {
    await primary().stop("fast");
    await primary().restart();
  },
  "the database fails over": (_, { failOver }) => failOver(),
};

async function hang(server: Server, forMs: number): Promise<void> {
  server.signal("SIGSTOP");
  await delay(forMs);
  server.signal("SIGCONT");
}

/** The faults of all rounds: each kind as often as the others, in any order. */
function faultsOf(rounds: number): string[] {
  const names = Object.keys(FAULTS).filter((name) => name.includes(CHOSEN));
  return Array.from({ length: rounds }, (_, round) => names[round % names.length] as string).toSorted(
    () => Math.random() - 0.5,
  );
}

suite(
  "three servers behind HAProxy, on PostgreSQL with a standby",
  needsAll(needsPostgres(), needsHaproxy(), needsFaketime()),
  () => {
    test(`after ${ROUNDS} faults nothing is lost, stuck, done twice or out of order, and one session lives`, async (t) => {
      const pair = await startPair(t);
      const target = await startTarget();
      t.after(() => target[Symbol.asyncDispose]());
      // Some attempts fail, so that retries must keep the order, too.
      target.answer((_, response) => void response.writeHead(Math.random() < 0.02 ? 500 : 204).end());
      const file = join(workingDir(), "authserve.yaml");
      writeFileSync(
        file,
        `routes:
  - name: ordered
    to: ${target.url}
    orderBy: key
    concurrency: 20
    retry: { attempts: 50, backoff: linear, delay: 200ms }
`,
      );
      const cluster = await startCluster(t, { DATABASE_URL: pair.url, DATABASE_TIMEOUT: "2s", CONFIG_FILE: file });
      await until(async () => (await clocksOf(cluster.servers()[1])).join() === "-90,0,90");
      const senders = startSenders(cluster.url, SENDERS);
      const logins = startLogins(cluster.url);
      t.after(() => Promise.all([senders.stop(), logins.stop()]).then(() => {}));
      const proceeds = async () => {
        const before = senders.acknowledged.length;
        await until(() => senders.acknowledged.length >= before + SENDERS, HEALS_WITHIN_MS);
      };

      await proceeds();
      for (const fault of faultsOf(ROUNDS)) {
        await FAULTS[fault]?.(cluster, pair);
        await proceeds().catch(async () =>
          assert.fail(`no deliveries ${HEALS_WITHIN_MS} ms after: ${fault}\n${await symptomsOf(cluster, pair)}`),
        );
      }
      const { tokens, last } = await logins.stop();
      await senders.stop();

      const { acknowledged, counts } = senders;
      const history = await readEnd(pair.primary().url(), cluster.servers());
      assert.deepEqual(
        acknowledged.filter((id) => !history.succeededOnce.has(id)),
        [],
        "acknowledged, and not processed once",
      );
      assert.equal(history.otherwise, 0, "events that did not succeed exactly once");
      assert.equal(history.miscounted, 0, "counts that differ from what is stored");
      const received = target.received.map(({ headers }) => String(headers["x-event-id"]));
      const reached = new Set(received);
      assert.deepEqual(
        acknowledged.filter((id) => !reached.has(id)),
        [],
        "acknowledged, and not received by the target",
      );
      assert.deepEqual(outOfOrder(received), []);
      assert.deepEqual(logins.problems, []);
      await assertOneSession(cluster.servers(), tokens, last);
      report(t, {
        ...counts,
        acknowledged: acknowledged.length,
        received: received.length,
        ...history.attempts,
        ...logins.counts,
      });
    });
  },
);

/** What the database and the servers say while deliveries fail. */
async function symptomsOf(cluster: Cluster, pair: Pair): Promise<string> {
  const said = async (text: string) => JSON.stringify(await pair.primary().query(text).catch(String));
  const lines = cluster.servers().map((server) => JSON.stringify(server.log("request_failed").slice(-2)));
  return [await said(SESSIONS), await said("SELECT state, sync_state FROM pg_stat_replication"), ...lines].join("\n");
}

const SESSIONS = `
SELECT state, wait_event, count(*), max(now() - state_change) AS longest, min(left(query, 60)) AS query
FROM pg_stat_activity WHERE application_name = 'authserve' GROUP BY 1, 2`;

/** How far the clocks of all servers are from that of the database, in seconds. */
async function clocksOf(server: Server | undefined): Promise<number[]> {
  const nodes: { clockOffsetMs: number }[] = JSON.parse((await server?.run(["nodes", "--json"]))?.stdout ?? "[]");
  return nodes.map(({ clockOffsetMs }) => Math.round(clockOffsetMs / 1000)).toSorted((one, other) => one - other);
}

/** The events that a target received for the first time before an earlier one of their key. */
function outOfOrder(received: readonly string[]): string[] {
  const next = new Map<string, number>();
  return received.filter((id) => {
    const [key = "", number] = id.split(":");
    const expected = next.get(key) ?? 0;
    if (Number(number) > expected) return true;
    if (Number(number) === expected) next.set(key, expected + 1);
    return false;
  });
}

async function assertOneSession(servers: readonly Server[], tokens: readonly string[], last: string | null) {
  const alive = new Set<string>();
  for (const server of servers) {
    for (const token of tokens.slice(-50)) if (await isAlive(server, token)) alive.add(token);
  }
  assert.ok(alive.size <= 1, `${alive.size} tokens are alive`);
  if (last !== null) assert.deepEqual([...alive], [last]);
}

/** Whether a token is valid. On a machine that stalls, the database may not answer in time. */
function isAlive(server: Server, token: string): Promise<boolean> {
  const ask = async () => {
    const { status } = await me(server, token);
    return status === 503 ? null : { isValid: status === 200 };
  };
  return until(ask).then(({ isValid }) => isValid);
}

interface End {
  /** Ids of the events whose only successful attempt ended their only job. */
  succeededOnce: Set<string>;
  /** The number of all other events. */
  otherwise: number;
  /** The number of wrong counts. */
  miscounted: number;
  attempts: Record<string, number>;
}

/** Waits until no event is queued, and reads what became of all. */
function readEnd(url: string, servers: readonly Server[]): Promise<End> {
  return withDatabase(url, async (rows) => {
    for (let left = Number.POSITIVE_INFINITY; left > 0; ) {
      const isLess = async () => (await rows(OPEN)).length < left;
      await until(isLess, STUCK_AFTER_MS).catch(async () => {
        const errors = servers.flatMap(({ log }) => log("worker_error").slice(-3));
        assert.fail(`jobs are stuck: ${JSON.stringify([(await rows(OPEN)).slice(0, 5), errors], null, 1)}`);
      });
      left = (await rows(OPEN)).length;
    }
    const events = await rows<{ id: string; successes: number }>(SUCCESSES);
    return {
      succeededOnce: new Set(events.filter(({ successes }) => Number(successes) === 1).map(({ id }) => id)),
      otherwise: events.filter(({ successes }) => Number(successes) !== 1).length,
      miscounted: (await rows(MISCOUNTED)).length,
      attempts: Object.fromEntries(
        (await rows<{ outcome: string; count: string }>(ATTEMPTS)).map(({ outcome, count }) => [
          outcome,
          Number(count),
        ]),
      ),
    };
  });
}

const OPEN = `
SELECT event, NULL AS job FROM authserve.unrouted
UNION ALL SELECT event, to_jsonb(jobs) FROM authserve.jobs WHERE status <> 'processed' ORDER BY event`;

const SUCCESSES = `
SELECT event_id AS id, (SELECT count(*) FROM authserve.attempts WHERE event = events.id AND outcome = 'succeeded') AS successes
FROM authserve.events`;

const ATTEMPTS = "SELECT outcome, count(*) FROM authserve.attempts GROUP BY outcome";

function report(t: TestContext, counts: Record<string, number>): void {
  const text = Object.entries(counts).map(([name, count]) => `${name} ${Math.round(count)}`);
  t.diagnostic(`${ROUNDS} rounds: ${text.join(", ")}`);
}
