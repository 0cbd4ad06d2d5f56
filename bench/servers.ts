/**
 * Measures 1, 2 and 3 servers on one PostgreSQL: deliveries, then how fast the backlog is processed. It also tells who
 * uses the processors meanwhile, and what PostgreSQL writes.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { DEFAULT_ROUTE } from "../src/events/job.ts";
import { type PostgresServer, startPostgres } from "../test/helpers/postgres.ts";
import { writeCorpus } from "./corpus.ts";
import { secondsOf, secondsOfEnded, secondsOfMachine, secondsOfMainThread, secondsOfPostgres } from "./cpu.ts";
import { type Load, type LoadResult, playCorpus, spreadOf, WARM_UP_SECONDS } from "./load.ts";
import { printHead, printRow, tenths, whole } from "./table.ts";
import { metricOf, startProduct, type Target, WEBHOOK_SECRET } from "./targets.ts";

const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 64);
const SERVERS = [1, 2, 3];
/** More deliveries per second than PostgreSQL can store here. */
const MOST_PER_SECOND = 30_000;
const DRAIN_DEADLINE_MS = 120_000;

/** Who uses the processors, in seconds of one core. */
interface Cpu {
  servers: number;
  /** Of the thread of a server that runs JavaScript, the average of the servers. */
  mainThread: number;
  postgres: number;
  load: number;
  idle: number;
  iowait: number;
  all: number;
}

/** Counters of PostgreSQL. */
interface Counters {
  walBytes: number;
  syncs: number;
  commits: number;
}

/** What was used from one moment to another. */
interface Usage {
  seconds: number;
  cpu: Cpu;
  counters: Counters;
  /** What connections with a running statement wait for, and how often they were seen so. */
  waits: Map<string, number>;
}

/** One run with a number of servers. */
interface ServersRun {
  perSecond: number;
  p99Ms: number;
  errors: number;
  deliveries: number;
  drainPerSecond: number;
  drained: number;
  intake: Usage;
  drain: Usage;
  /** Of an event, from its delivery until it is processed. */
  walBytes: number;
  storedBytes: number;
}

/** Measures all numbers of servers in turn in each round. `paddingBytes` makes payloads larger. */
export async function measureServers(scratch: string, rounds: number, seconds: number, paddingBytes: number) {
  const ends: (() => unknown)[] = [];
  const postgres = await startPostgres({ after: (end) => void ends.push(end as () => unknown) });
  const runs = new Map<number, ServersRun[]>(SERVERS.map((count) => [count, []]));
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const count of SERVERS) {
        const run = await measureCount(scratch, postgres, { count, seconds, paddingBytes });
        runs.get(count)?.push(run);
        const { perSecond, p99Ms, drainPerSecond } = run;
        console.error(
          `round ${round}, ${count}: ${perSecond.toFixed()}/s, p99 ${p99Ms} ms, drain ${drainPerSecond.toFixed()}/s`,
        );
      }
    }
  } finally {
    for (const end of ends.reverse()) await end();
  }
  printRates(runs);
  printShares(runs);
  printCosts(runs);
  printWaits(runs);
}

interface RunOptions {
  count: number;
  seconds: number;
  paddingBytes: number;
}

async function measureCount(scratch: string, server: PostgresServer, options: RunOptions): Promise<ServersRun> {
  const name = await server.createDatabase();
  const client = new Client({ connectionString: server.url(name) });
  await client.connect();
  const targets: Target[] = [];
  try {
    while (targets.length < options.count) {
      targets.push(await startProduct(scratch, { DATABASE_URL: server.url(name) }));
    }
    return await measureTargets(scratch, server, client, targets, options);
  } finally {
    for (const target of targets) await target.stop();
    await client.end();
    await server.query(`DROP DATABASE ${name}`);
  }
}

async function measureTargets(
  scratch: string,
  server: PostgresServer,
  client: Client,
  targets: readonly Target[],
  { seconds, paddingBytes }: RunOptions,
): Promise<ServersRun> {
  const [first] = targets as [Target];
  const [warmUp, loads] = [
    await prepareLoads(scratch, targets.length, WARM_UP_SECONDS, paddingBytes),
    await prepareLoads(scratch, targets.length, seconds, paddingBytes),
  ];
  const before = await countersOf(client);
  await client.query(PAUSE);
  await deliver(targets, warmUp);
  const watched = { server, client, targets };
  const { result: results, usage: intake } = await watch(watched, () => deliver(targets, loads));
  const queued = await metricOf(first, "events_queued");
  await client.query(RESUME);
  const drained = await untilQueued(first, queued - 1);
  const { usage: drain } = await watch(watched, () => untilQueued(first, 0));
  const stored = await storedOf(client);
  return {
    perSecond: sum(results.map(({ perSecond }) => perSecond)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    errors: sum(results.map(({ errors }) => errors)),
    deliveries: sum(results.map(({ requests }) => requests)),
    drained,
    drainPerSecond: drained / drain.seconds,
    intake,
    drain,
    walBytes: ((await countersOf(client)).walBytes - before.walBytes) / stored.events,
    storedBytes: stored.bytes / stored.events,
  };
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

/** The servers process no job while deliveries are measured. They see it at their next poll. */
const PAUSE = `INSERT INTO authserve.paused_routes (route, paused_at) VALUES ('${DEFAULT_ROUTE}', 1)`;
const RESUME = "DELETE FROM authserve.paused_routes";

/** Spreads the connections over the servers. Each server has a load generator and deliveries of its own. */
async function prepareLoads(scratch: string, count: number, seconds: number, paddingBytes: number): Promise<Load[]> {
  const perServer = Math.ceil((MOST_PER_SECOND * seconds) / count);
  const loads: Load[] = [];
  for (let place = 0; place < count; place++) {
    const prefix = `evt_${seconds}_${Math.random().toString(36).slice(2)}_`;
    const corpus = join(scratch, `${prefix}.tsv`);
    await writeCorpus(corpus, perServer, WEBHOOK_SECRET, prefix, "sequential", paddingBytes);
    const connections = Math.floor(CONNECTIONS / count) + (place < CONNECTIONS % count ? 1 : 0);
    loads.push({ connections, seconds, corpus });
  }
  return loads;
}

/** Sends deliveries to all servers at once. */
async function deliver(targets: readonly Target[], loads: readonly Load[]): Promise<LoadResult[]> {
  const results = await Promise.all(targets.map((target, place) => playCorpus(target, loads[place] as Load)));
  for (const { corpus } of loads) rmSync(corpus);
  return results;
}

/** Waits until at most so many jobs are queued. Returns how many are. */
async function untilQueued(target: Target, most: number): Promise<number> {
  const deadline = Date.now() + DRAIN_DEADLINE_MS;
  for (; ; await delay(50)) {
    const queued = await metricOf(target, "events_queued");
    if (queued <= most) return queued;
    if (Date.now() > deadline) throw new Error("the backlog was not processed in time");
  }
}

interface Watched {
  server: PostgresServer;
  client: Client;
  targets: readonly Target[];
}

const WAITS_EVERY_MS = 50;

/** Tells what is used while an action runs. */
async function watch<Result>(
  { server, client, targets }: Watched,
  act: () => Promise<Result>,
): Promise<{ result: Result; usage: Usage }> {
  const readCpu = () => cpuOf(server, targets);
  const waits = new Map<string, number>();
  const [cpu, counters, from] = [readCpu(), await countersOf(client), performance.now()];
  let isOver = false;
  const sampling = (async () => {
    for (; !isOver; await delay(WAITS_EVERY_MS)) await addWaits(client, waits);
  })();
  const result = await act();
  const seconds = (performance.now() - from) / 1000;
  isOver = true;
  await sampling;
  const usage = {
    seconds,
    cpu: minus(readCpu(), cpu),
    counters: minus(await countersOf(client), counters),
    waits,
  };
  return { result, usage };
}

function cpuOf(server: PostgresServer, targets: readonly Target[]): Cpu {
  return {
    servers: sum(targets.map((target) => secondsOf(target.pid))),
    mainThread: sum(targets.map((target) => secondsOfMainThread(target.pid))) / targets.length,
    postgres: secondsOfPostgres(server),
    load: secondsOfEnded(process.pid),
    ...secondsOfMachine(),
  };
}

function minus<Name extends string>(after: Record<Name, number>, before: Record<Name, number>): Record<Name, number> {
  const names = Object.keys(after) as Name[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as Record<Name, number>;
}

const COUNTERS = `
SELECT (pg_current_wal_lsn() - '0/0')::float8 AS "walBytes", (SELECT wal_sync FROM pg_stat_wal)::float8 AS syncs,
  (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())::float8 AS commits`;

async function countersOf(client: Client): Promise<Counters> {
  return (await client.query<Counters>(COUNTERS)).rows[0] as Counters;
}

const WAITS = `
SELECT coalesce(wait_event_type || ' ' || wait_event, 'none') AS event, count(*)::int AS count FROM pg_stat_activity
WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY 1`;

async function addWaits(client: Client, waits: Map<string, number>): Promise<void> {
  const { rows } = await client.query<{ event: string; count: number }>(WAITS);
  for (const { event, count } of rows) waits.set(event, (waits.get(event) ?? 0) + count);
}

const STORED = `
SELECT (SELECT count(*) FROM authserve.events)::float8 AS events,
  (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
    WHERE relnamespace = 'authserve'::regnamespace AND relkind = 'r')::float8 AS bytes`;

async function storedOf(client: Client): Promise<{ events: number; bytes: number }> {
  return (await client.query<{ events: number; bytes: number }>(STORED)).rows[0] as { events: number; bytes: number };
}

type Runs = ReadonlyMap<number, readonly ServersRun[]>;

const spread = (runs: readonly ServersRun[], of: (run: ServersRun) => number) => spreadOf(runs.map(of));

function printRates(all: Runs): void {
  printHead(["servers", "deliveries/s", "p99 ms", "processed/s", "backlog", "errors"]);
  for (const [count, runs] of all) {
    printRow([
      count,
      whole(spread(runs, ({ perSecond }) => perSecond)),
      tenths(spread(runs, ({ p99Ms }) => p99Ms)),
      whole(spread(runs, ({ drainPerSecond }) => drainPerSecond)),
      whole(spread(runs, ({ drained }) => drained)),
      sum(runs.map(({ errors }) => errors)),
    ]);
  }
  console.log();
}

const PHASES = ["intake", "drain"] as const;

/** Prints the shares of all cores together, in percent; of the thread that runs JavaScript, the share of one core. */
function printShares(all: Runs): void {
  printHead([
    "phase",
    "servers",
    "authserve %",
    "PostgreSQL %",
    "load generator %",
    "others %",
    "idle %",
    "iowait %",
    "JavaScript thread %",
  ]);
  for (const phase of PHASES) {
    for (const [count, runs] of all) {
      const share = (of: (cpu: Cpu) => number) =>
        whole(spread(runs, (run) => (100 * of(run[phase].cpu)) / run[phase].cpu.all));
      printRow([
        phase,
        count,
        share(({ servers }) => servers),
        share(({ postgres }) => postgres),
        share(({ load }) => load),
        share((cpu) => cpu.all - cpu.servers - cpu.postgres - cpu.load - cpu.idle - cpu.iowait),
        share(({ idle }) => idle),
        share(({ iowait }) => iowait),
        whole(spread(runs, (run) => (100 * run[phase].cpu.mainThread) / run[phase].seconds)),
      ]);
    }
  }
  console.log();
}

/** Prints what an event costs. */
function printCosts(all: Runs): void {
  printHead([
    "phase",
    "servers",
    "authserve µs/event",
    "PostgreSQL µs/event",
    "WAL bytes/event",
    "stored bytes/event",
    "commits/s",
    "fsyncs/s",
  ]);
  for (const phase of PHASES) {
    for (const [count, runs] of all) {
      const eventsOf = (run: ServersRun) => (phase === "intake" ? run.deliveries : run.drained);
      const micros = (of: (cpu: Cpu) => number) =>
        whole(spread(runs, (run) => (1e6 * of(run[phase].cpu)) / eventsOf(run)));
      const rate = (of: (counters: Counters) => number) =>
        whole(spread(runs, (run) => of(run[phase].counters) / run[phase].seconds));
      printRow([
        phase,
        count,
        micros(({ servers }) => servers),
        micros(({ postgres }) => postgres),
        whole(spread(runs, ({ walBytes }) => walBytes)),
        whole(spread(runs, ({ storedBytes }) => storedBytes)),
        rate(({ commits }) => commits),
        rate(({ syncs }) => syncs),
      ]);
    }
  }
  console.log();
}

/**
 * Prints the most common reasons why statements wait, of all rounds together. Without one, a statement uses a
 * processor.
 */
function printWaits(all: Runs): void {
  for (const phase of PHASES) {
    for (const [count, runs] of all) {
      const seen = new Map<string, number>();
      for (const [event, times] of runs.flatMap((run) => [...run[phase].waits])) {
        seen.set(event, (seen.get(event) ?? 0) + times);
      }
      const total = sum([...seen.values()]);
      const most = [...seen].sort(([, one], [, other]) => other - one).slice(0, 5);
      const text = most.map(([event, times]) => `${event} ${((100 * times) / total).toFixed()} %`).join(", ");
      console.log(`${phase}, ${count}: statements wait for ${text}`);
    }
  }
}
