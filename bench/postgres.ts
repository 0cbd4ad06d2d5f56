/** Compares PostgreSQL with SQLite: intake and processing side by side, and claims of a growing table. */
import { setTimeout as delay } from "node:timers/promises";
import { DEFAULT_ROUTE } from "../src/events/job.ts";
import { createLog } from "../src/log.ts";
import { isFault, parseDatabaseUrl } from "../src/postgres/address.ts";
import { connectPostgres, type Postgres } from "../src/postgres/connection.ts";
import { createPostgresEventStore } from "../src/postgres/events.ts";
import { prepareSchema } from "../src/postgres/schema-update.ts";
import { type PostgresServer, startPostgres } from "../test/helpers/postgres.ts";
import { drainedEvents, drainStore } from "./drain.ts";
import { figureLine, GOALS } from "./goals.ts";
import { type LoadResult, playRun, prepareRun, spreadOf } from "./load.ts";
import { hundredths, printHead, printRow, tenths, whole } from "./table.ts";
import { startProduct, type Target } from "./targets.ts";

const CONNECTIONS = 64;
const EVENTS = Number(process.env.BENCH_EVENTS ?? 50_000);

/** Measures everything on a new server with its usual settings, which commit durably. */
export async function measurePostgres(scratch: string, rounds: number, seconds: number): Promise<void> {
  const ends: (() => unknown)[] = [];
  const server = await startPostgres({ after: (end) => void ends.push(end as () => unknown) });
  try {
    await measureIntake(scratch, server, rounds, seconds);
    await measureDrain(scratch, server, rounds);
    await measureClaims(server, [10_000, 1_000_000, 5_000_000]);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function measureIntake(scratch: string, server: PostgresServer, rounds: number, seconds: number): Promise<void> {
  const runs: Record<"SQLite" | "PostgreSQL", LoadResult[]> = { SQLite: [], PostgreSQL: [] };
  for (let round = 1; round <= rounds; round++) {
    const run = await prepareRun(scratch, seconds, `evt_${Date.now().toString(36)}_`);
    for (const store of ["SQLite", "PostgreSQL"] as const) {
      const target = await startOn(store, scratch, server);
      try {
        const result = await playRun(target, CONNECTIONS, run);
        runs[store].push(result);
        console.error(`round ${round}, ${store}: ${Math.round(result.perSecond)}/s, p99 ${result.p99Ms} ms`);
      } finally {
        await target.stop();
      }
    }
  }
  printHead(["store", "deliveries/s", "p50 ms", "p99 ms", "errors"]);
  for (const [store, results] of Object.entries(runs)) {
    const spread = (of: (result: LoadResult) => number) => spreadOf(results.map(of));
    const errors = results.reduce((sum, result) => sum + result.errors, 0);
    const rate = whole(spread(({ perSecond }) => perSecond));
    printRow([store, rate, tenths(spread(({ p50Ms }) => p50Ms)), tenths(spread(({ p99Ms }) => p99Ms)), errors]);
  }
  const ratios = runs.PostgreSQL.map((result, round) => result.perSecond / (runs.SQLite[round]?.perSecond ?? 1));
  const p99 = spreadOf(runs.PostgreSQL.map(({ p99Ms }) => p99Ms)).median;
  console.log(figureLine("intake of SQLite", spreadOf(ratios).median, "x", GOALS.postgresIntake));
  console.log(figureLine("intake, p99", p99, "ms", GOALS.postgresP99Ms));
}

async function startOn(store: "SQLite" | "PostgreSQL", scratch: string, server: PostgresServer): Promise<Target> {
  if (store === "SQLite") return startProduct(scratch);
  return startProduct(scratch, { DATABASE_URL: server.url(await server.createDatabase()) });
}

async function measureDrain(scratch: string, server: PostgresServer, rounds: number): Promise<void> {
  const rates: { any: number[]; ordered: number[] } = { any: [], ordered: [] };
  for (let round = 1; round <= rounds; round++) {
    rates.any.push(await drain(scratch, server, "log: {}"));
    rates.ordered.push(await drain(scratch, server, "log: {}, orderBy: customer"));
    console.error(`round ${round}: ${rates.any.at(-1)?.toFixed()}/s, ordered ${rates.ordered.at(-1)?.toFixed()}/s`);
  }
  const ratios = spreadOf(rates.ordered.map((rate, round) => rate / (rates.any[round] ?? 1)));
  printHead(["handler", "jobs/s", "ordered jobs/s", "ordered of unordered"]);
  printRow(["log", whole(spreadOf(rates.any)), whole(spreadOf(rates.ordered)), hundredths(ratios)]);
  console.log(figureLine("drain", spreadOf(rates.any).median, "/s", GOALS.postgresDrain));
  console.log(figureLine("ordered drain", ratios.median, "x", GOALS.orderedOfUnordered));
}

async function drain(scratch: string, server: PostgresServer, handler: string): Promise<number> {
  const url = server.url(await server.createDatabase());
  await fillPostgres(url, EVENTS);
  return drainStore(scratch, handler, { DATABASE_URL: url });
}

/** Stores so many events to process in an empty database. */
export function fillPostgres(url: string, count: number): Promise<void> {
  return withPostgres(url, async (postgres) => {
    const { append } = createPostgresEventStore(postgres);
    for (const batch of drainedEvents(count)) await append(batch);
  });
}

/** Adds processed jobs until `$1` are stored, with one attempt each, and as many due ones as a claim takes. */
const FILL = [
  `INSERT INTO authserve.events (id, source, event_id, type, received_at, size)
   SELECT n, 'default', md5(n::text), 'push', 1, 300 FROM generate_series($1::bigint, $2::bigint) AS n`,
  `INSERT INTO authserve.contents (event, secret, address, headers, content_type, payload)
   SELECT n, 'env:S', '127.0.0.1', '{}', 'application/json', convert_to(repeat('x', 260), 'UTF8')
   FROM generate_series($1::bigint, $2::bigint) AS n`,
  `INSERT INTO authserve.jobs (event, route, status, attempts, ended_at)
   SELECT n, '${DEFAULT_ROUTE}', 'processed', 1, 1 FROM generate_series($1::bigint, $2::bigint) AS n`,
];

const FILL_PAGE = 100_000;
const CLAIMS = 200;
const CLAIMED = 128;

/** Measures claims of 128 due jobs while more and more processed jobs are stored. */
async function measureClaims(server: PostgresServer, sizes: readonly number[]): Promise<void> {
  const url = server.url(await server.createDatabase());
  await withPostgres(url, async (postgres) => {
    let stored = 0;
    printHead(["processed jobs", "claim p50 ms", "claim p99 ms"]);
    for (const size of sizes) {
      for (; stored < size; stored += Math.min(FILL_PAGE, size - stored)) {
        const page = [stored + 1, Math.min(stored + FILL_PAGE, size)];
        for (const statement of FILL) await postgres.run(statement, page);
      }
      await postgres.run("ANALYZE");
      await delay(2000);
      const times = await timeClaims(postgres, size);
      printRow([size, times[CLAIMS / 2]?.toFixed(1) ?? "", times[Math.floor(CLAIMS * 0.99)]?.toFixed(1) ?? ""]);
      stored += CLAIMS * CLAIMED;
    }
  });
}

/** Makes jobs due, claims and settles them. Returns the times of the claims in milliseconds, in order. */
async function timeClaims(postgres: Postgres, size: number): Promise<number[]> {
  const events = createPostgresEventStore(postgres);
  const [from, to] = [size + 1, size + CLAIMS * CLAIMED];
  for (const statement of FILL) await postgres.run(statement, [from, to]);
  await postgres.run("UPDATE authserve.jobs SET status = 'queued', due_at = event WHERE event BETWEEN $1 AND $2", [
    from,
    to,
  ]);
  const times: number[] = [];
  const now = Date.now();
  for (let round = 0; round < CLAIMS; round++) {
    const began = performance.now();
    const request = { route: DEFAULT_ROUTE, owner: "bench", limit: CLAIMED, leaseMs: 60_000, retryDelaysMs: [], now };
    const { claimed } = await events.claim(request);
    times.push(performance.now() - began);
    if (claimed.length !== CLAIMED) throw new Error(`${claimed.length} jobs were claimed`);
    const ended = { owner: "bench", next: { to: "processed" as const }, startedAt: now, finishedAt: now, error: null };
    await events.settle(claimed.map(({ event, route, attempt }) => ({ event, route, attempt, ...ended })));
  }
  return times.sort((one, other) => one - other);
}

async function withPostgres(url: string, use: (postgres: Postgres) => Promise<void>): Promise<void> {
  const address = parseDatabaseUrl(url);
  if (isFault(address)) throw new Error(address.found);
  const nobody = { onUp: () => {}, onDown: () => {}, onUnnamed: () => {} };
  const postgres = connectPostgres({ ...address, tls: undefined, poolSize: 4, timeoutMs: 600_000 }, nobody);
  try {
    await prepareSchema(postgres, createLog("silent"));
    await use(postgres);
  } finally {
    await postgres.close();
  }
}
