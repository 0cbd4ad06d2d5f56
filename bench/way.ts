/**
 * Measures the way from receipt to handler beside job queues, in turns: how fast stored jobs are processed, what a job
 * costs, and how long one waits at 200 a second. A handler does nothing, or posts to a local server.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "../test/helpers/postgres.ts";
import { type Bar, drawBars } from "./chart.ts";
import { secondsOf, secondsOfPostgres } from "./cpu.ts";
import { fillSqlite } from "./drain.ts";
import { figureLine, GOALS } from "./goals.ts";
import { type Spread, spreadOf } from "./load.ts";
import { fillPostgres } from "./postgres.ts";
import { percentile, startSteady } from "./steady.ts";
import { hundredths, printHead, printRow, tenths, whole } from "./table.ts";
import { installPeer, metricOf, NODE, startCeiling, startProduct, startRedis } from "./targets.ts";

const JOBS = Number(process.env.BENCH_JOBS ?? 50_000);
const PER_SECOND = 200;
const HANDLERS = ["nothing", "post"] as const;

type Handler = (typeof HANDLERS)[number];

/** What is measured of a drain. */
interface Drain {
  perSecond: number;
  /** Processor time of the server and its database. */
  microsPerJob: number;
  /** Of the database; null where it does not count them. */
  commitsPerJob: number | null;
}

/**
 * A server or queue under measurement. A drain is from full to empty, and `waits` are milliseconds from receipt to
 * handler.
 */
interface Engine {
  drain(handler: Handler): Promise<Drain>;
  waits(seconds: number): Promise<readonly number[]>;
}

interface Measured {
  nothing: Drain[];
  post: Drain[];
  waits: (readonly number[])[];
}

/** The databases and the target that all engines use. */
interface Places {
  scratch: string;
  postgres: PostgresServer;
  redis: { port: number; pid: number };
  peers: string;
  targetUrl: string;
}

/** Measures and prints all engines, and draws `way.svg`. */
export async function measureWay(scratch: string, rounds: number, seconds: number): Promise<void> {
  const ends: (() => unknown)[] = [];
  try {
    const postgres = await startPostgres({ after: (end) => void ends.push(end as () => unknown) });
    const redis = await startRedis(scratch, "always");
    const target = await startCeiling(scratch);
    ends.push(redis.stop, target.stop);
    const peers = installPeer(scratch, "queues");
    const all = enginesAt({ scratch, postgres, redis, peers, targetUrl: `${target.url}/` });
    const measured = new Map<string, Measured>();
    for (let round = 1; round <= rounds; round++) {
      for (const [name, engine] of Object.entries(all)) {
        if (!name.startsWith(process.env.BENCH_ENGINES ?? "")) continue;
        const found = measured.get(name) ?? { nothing: [], post: [], waits: [] };
        measured.set(name, found);
        for (const handler of HANDLERS) found[handler].push(await engine.drain(handler));
        found.waits.push(await engine.waits(seconds));
        const [nothing, post, waits] = [found.nothing.at(-1), found.post.at(-1), found.waits.at(-1) ?? []];
        console.error(
          `round ${round}, ${name}: ${nothing?.perSecond.toFixed()}/s, posted ${post?.perSecond.toFixed()}/s, ` +
            `p99 ${percentile(waits, 0.99).toFixed(1)} ms`,
        );
      }
    }
    printWay(measured);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function enginesAt(places: Places): Record<string, Engine> {
  return {
    "authserve on SQLite": own(places, "SQLite"),
    "authserve on PostgreSQL": own(places, "PostgreSQL"),
    "graphile-worker": peer(places, "graphile-worker"),
    "pg-boss": peer(places, "pg-boss"),
    "BullMQ, on disk": peer(places, "BullMQ"),
  };
}

/** Reads the counters of a database while an action runs. */
async function counting<Result>({ postgres, redis }: Places, database: string | null, act: () => Promise<Result>) {
  const cpu = () => (database === null ? secondsOf(redis.pid) : secondsOfPostgres(postgres));
  const commits = async () => {
    if (database === null) return 0;
    // Sessions tell their commits at their ends, or a second later.
    await delay(1100);
    const text = `SELECT xact_commit::float8 AS count FROM pg_stat_database WHERE datname = '${database}'`;
    return Number((await postgres.query(text))[0]?.count);
  };
  const before = { commits: await commits(), cpu: cpu() };
  const result = await act();
  const cpuSeconds = cpu() - before.cpu;
  return { result, cpuSeconds, commits: database === null ? null : (await commits()) - before.commits };
}

function own(places: Places, store: "SQLite" | "PostgreSQL"): Engine {
  const { scratch, postgres, targetUrl } = places;
  const file = join(scratch, "way.yaml");

  async function start(handler: string, fill: number) {
    writeFileSync(file, `routes: [{ name: bench, ${handler} }]\n`);
    const env: NodeJS.ProcessEnv = { CONFIG_FILE: file, LOG_LEVEL: "warn" };
    let database: string | null = null;
    if (store === "PostgreSQL") {
      database = await postgres.createDatabase();
      env.DATABASE_URL = postgres.url(database);
      await fillPostgres(env.DATABASE_URL, fill);
    } else env.DATA_DIR = fillSqlite(scratch, fill);
    return { database, start: () => startProduct(scratch, env) };
  }

  return {
    async drain(handler) {
      const prepared = await start(handler === "post" ? `to: "${targetUrl}"` : "log: {}", JOBS);
      const { result, cpuSeconds, commits } = await counting(places, prepared.database, async () => {
        const server = await prepared.start();
        try {
          const [cpu, queued, from] = [
            secondsOf(server.pid),
            await metricOf(server, "events_queued"),
            performance.now(),
          ];
          while ((await metricOf(server, "events_queued")) > 0) await delay(20);
          return { queued, seconds: (performance.now() - from) / 1000, cpuSeconds: secondsOf(server.pid) - cpu };
        } finally {
          await server.stop();
        }
      });
      return {
        perSecond: result.queued / result.seconds,
        microsPerJob: (1e6 * (result.cpuSeconds + (prepared.database === null ? 0 : cpuSeconds))) / result.queued,
        commitsPerJob: commits === null ? null : commits / JOBS,
      };
    },
    async waits(seconds) {
      const steady = await startSteady();
      const prepared = await start(`to: "${steady.url}"`, 0);
      const server = await prepared.start();
      try {
        await steady.send(server.url + server.path, { perSecond: PER_SECOND, seconds });
        while (steady.missing() > 0) await delay(20);
        // The first seconds compile the code, for all engines.
        return steady.result().waits.slice(PER_SECOND);
      } finally {
        await server.stop();
        steady.close();
      }
    },
  };
}

function peer(places: Places, name: "graphile-worker" | "pg-boss" | "BullMQ"): Engine {
  const { postgres, redis, peers, targetUrl } = places;

  async function prepare() {
    const database = name === "BullMQ" ? null : await postgres.createDatabase();
    const env = { REDIS_PORT: String(redis.port), DATABASE_URL: database === null ? "" : postgres.url(database) };
    return { database, run: (...args: string[]) => runPeer(peers, [name, ...args], env) };
  }

  return {
    async drain(handler) {
      const { database, run } = await prepare();
      await run("fill", String(JOBS));
      const drain = () => run("drain", String(JOBS), ...(handler === "post" ? [targetUrl] : []));
      const { result, cpuSeconds, commits } = await counting(places, database, drain);
      return {
        perSecond: JOBS / result.seconds,
        microsPerJob: (1e6 * (result.cpuSeconds + cpuSeconds)) / JOBS,
        commitsPerJob: commits === null ? null : commits / JOBS,
      };
    },
    async waits(seconds) {
      const { run } = await prepare();
      return (await run("latency", String(PER_SECOND * seconds), targetUrl)).waits.slice(PER_SECOND);
    },
  };
}

interface PeerResult {
  seconds: number;
  cpuSeconds: number;
  waits: number[];
}

async function runPeer(dir: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<PeerResult> {
  const child = spawn(NODE, ["main.js", ...args], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} failed: ${out}`);
  const result = /^RESULT (.*)$/m.exec(out)?.[1] ?? '{"seconds":0,"cpuSeconds":0,"waits":[]}';
  return JSON.parse(result) as PeerResult;
}

const median = (drains: readonly Drain[], of: (drain: Drain) => number): Spread => spreadOf(drains.map(of));
const rateOf = (measured: Measured, handler: Handler = "nothing") =>
  median(measured[handler], ({ perSecond }) => perSecond);
const waitOf = ({ waits }: Measured, part: number) => spreadOf(waits.map((one) => percentile(one, part)));

function printWay(all: ReadonlyMap<string, Measured>): void {
  printHead(["engine", "jobs/s", "posted/s", "µs/job", "commits/job", "p50 ms", "p99 ms"]);
  for (const [name, measured] of all) {
    const hasCommits = measured.nothing.every(({ commitsPerJob }) => commitsPerJob !== null);
    printRow([
      name,
      whole(rateOf(measured)),
      whole(rateOf(measured, "post")),
      whole(median(measured.nothing, ({ microsPerJob }) => microsPerJob)),
      hasCommits ? median(measured.nothing, ({ commitsPerJob }) => commitsPerJob ?? 0).median.toFixed(3) : "",
      tenths(waitOf(measured, 0.5)),
      tenths(waitOf(measured, 0.99)),
    ]);
  }
  console.log();
  printGoals(all);
  const bars = [...all].map(([label, measured]): Bar => ({ label, value: rateOf(measured) }));
  const svg = drawBars(bars, {
    title: "Stored jobs processed a second, with a handler that does nothing",
    note: "Ten at once. Median of the rounds; the line runs from the slowest to the fastest.",
  });
  writeFileSync(join(import.meta.dirname, "way.svg"), svg);
}

function printGoals(all: ReadonlyMap<string, Measured>): void {
  const [sqlite, postgres] = [all.get("authserve on SQLite"), all.get("authserve on PostgreSQL")];
  if (sqlite) console.log(figureLine("drain on SQLite", rateOf(sqlite).median, "/s", GOALS.drainSqlite));
  for (const one of [sqlite, postgres]) {
    if (one) console.log(figureLine("p99 from receipt to handler", waitOf(one, 0.99).median, "ms", GOALS.receiptP99Ms));
  }
  for (const [name, goal] of [
    ["graphile-worker", GOALS.drainOfGraphile],
    ["pg-boss", GOALS.drainOfQueues],
    ["BullMQ, on disk", GOALS.drainOfQueues],
  ] as const) {
    const peers = all.get(name)?.nothing;
    if (!postgres || !peers) continue;
    const ratio = spreadOf(postgres.nothing.map(({ perSecond }, round) => perSecond / (peers[round]?.perSecond ?? 1)));
    console.log(`${figureLine(`on PostgreSQL, of ${name}`, ratio.median, "x", goal)}  ${hundredths(ratio)}`);
  }
}
