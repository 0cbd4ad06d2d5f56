/**
 * Measures the way from receipt to handler on PostgreSQL while something fails, and then under pressure for long. The
 * sender repeats what is not answered with 200, as providers do.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { type PostgresServer, startPostgres } from "../test/helpers/postgres.ts";
import { percentile, startSteady } from "./steady.ts";
import { printHead, printRow } from "./table.ts";
import { rssMb, startProduct, type Target } from "./targets.ts";

const PER_SECOND = 200;
/** Of the run under pressure. */
const PRESSURE_PER_SECOND = 500;
const KILL_EVERY_MS = 5000;
const CRASH_EVERY_MS = 10_000;
/** Until everything has arrived after the last fault. */
const END_MS = 120_000;

/** What a fault can reach. */
interface Scene {
  postgres: PostgresServer;
  database: string;
  /** Ends the server like a crash, and starts it again. */
  restartServer(): Promise<void>;
}

/** Does its harm until `isOver`, and then undoes it. */
type Fault = (scene: Scene, isOver: () => boolean) => Promise<void>;

const FAULTS: Record<string, Fault> = {
  nothing: async () => {},
  "the server is killed every 5 s": async ({ restartServer }, isOver) => {
    for (; !isOver(); await delay(KILL_EVERY_MS)) await restartServer();
  },
  "the database crashes every 10 s": async ({ postgres }, isOver) => {
    for (; !isOver(); await delay(CRASH_EVERY_MS)) {
      await postgres.stop("immediate");
      await postgres.restart();
    }
  },
  "no connection is free": async ({ postgres, database }, isOver) => {
    const taken: Client[] = [];
    for (;;) {
      const client = await connected(postgres, database).catch(() => null);
      if (client === null) break;
      taken.push(client);
    }
    while (!isOver()) await delay(100);
    await Promise.all(taken.map((client) => client.end()));
  },
  "jobs are locked in another order": async ({ postgres, database }, isOver) => {
    const client = await connected(postgres, database);
    while (!isOver()) {
      await client.query("BEGIN");
      // PostgreSQL ends one of two transactions that wait for each other: this one, or the server's.
      await client.query(LOCK_JOBS).catch(() => {});
      await delay(200);
      await client.query("ROLLBACK");
    }
    await client.end();
  },
  "a consumer dies, and its long transaction stays": async ({ postgres, database, restartServer }, isOver) => {
    const client = await connected(postgres, database);
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await client.query("SELECT count(*) FROM authserve.jobs");
    await restartServer();
    while (!isOver()) await delay(100);
    await client.query("COMMIT");
    await client.end();
  },
};

const LOCK_JOBS = "SELECT 1 FROM authserve.jobs WHERE due_at IS NOT NULL ORDER BY event DESC LIMIT 50 FOR UPDATE";

async function connected(postgres: PostgresServer, database: string): Promise<Client> {
  const client = new Client({ connectionString: postgres.url(database) });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Measures each cell, and then an hour, or so many minutes, of pressure. */
export async function measureCells(scratch: string, seconds: number, minutes: number): Promise<void> {
  printHead(["while", "acknowledged", "arrived", "more than once", "p50 ms", "p99 ms"]);
  for (const [name, fault] of Object.entries(FAULTS)) {
    if (!name.includes(process.env.BENCH_CELLS ?? "")) continue;
    await inScene(scratch, async (scene, steady, server) => {
      let isOver = false;
      const harm = fault(scene, () => isOver);
      await steady.send(server.url + server.path, { perSecond: PER_SECOND, seconds });
      isOver = true;
      await harm;
      await arrival(steady);
      const { acknowledged, repeated, waits } = steady.result();
      const [p50, p99] = [percentile(waits, 0.5), percentile(waits, 0.99)];
      printRow([name, acknowledged, waits.length, repeated, p50.toFixed(1), p99.toFixed(1)]);
    });
  }
  console.log();
  if (minutes > 0) await measurePressure(scratch, minutes);
}

/** Delivers for long while events are removed after five minutes. Prints a row a tenth of the time. */
async function measurePressure(scratch: string, minutes: number): Promise<void> {
  await inScene(scratch, async ({ postgres, database }, steady, server) => {
    printHead(["minute", "p50 ms", "p99 ms", "tables MB", "dead rows", "rows", "server MB", "not arrived"]);
    let before = 0;
    for (let part = 1; part <= 10; part++) {
      const seconds = (minutes * 60) / 10;
      await steady.send(server.url + server.path, { perSecond: PRESSURE_PER_SECOND, seconds });
      await delay(1000);
      const { waits } = steady.result();
      const [own, [size]] = [waits.slice(before), await postgres.query(SIZES, database)];
      before = waits.length;
      printRow([
        ((minutes * part) / 10).toFixed(1),
        percentile(own, 0.5).toFixed(1),
        percentile(own, 0.99).toFixed(1),
        Math.round(Number(size?.bytes) / 1e6),
        Number(size?.dead),
        Number(size?.live),
        rssMb(server.pid).toFixed(),
        steady.missing(),
      ]);
    }
    await arrival(steady);
    const { acknowledged, repeated, waits } = steady.result();
    console.log(`acknowledged ${acknowledged}, arrived ${waits.length}, more than once ${repeated}`);
  });
}

const SIZES = `
SELECT (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
    WHERE relnamespace = 'authserve'::regnamespace AND relkind = 'r')::float8 AS bytes,
  sum(n_dead_tup)::float8 AS dead, sum(n_live_tup)::float8 AS live FROM pg_stat_user_tables`;

/** Waits until all deliveries have arrived. */
async function arrival(steady: Awaited<ReturnType<typeof startSteady>>): Promise<void> {
  const deadline = performance.now() + END_MS;
  while (steady.missing() > 0 && performance.now() < deadline) await delay(100);
}

async function inScene(
  scratch: string,
  act: (scene: Scene, steady: Awaited<ReturnType<typeof startSteady>>, server: Target) => Promise<void>,
): Promise<void> {
  const ends: (() => unknown)[] = [];
  const steady = await startSteady();
  const postgres = await startPostgres({ after: (end) => void ends.push(end as () => unknown) });
  const database = await postgres.createDatabase();
  const file = join(scratch, "cells.yaml");
  writeFileSync(file, `routes: [{ name: bench, to: "${steady.url}" }]\nretention: { processed: 5m }\n`);
  const env = { CONFIG_FILE: file, LOG_LEVEL: "error", DATABASE_URL: postgres.url(database) };
  let server = await startProduct(scratch, env);
  const restartServer = async () => {
    process.kill(server.pid, "SIGKILL");
    await server.stop();
    server = await startProduct(scratch, { ...server.env });
  };
  try {
    await act({ postgres, database, restartServer }, steady, server);
  } finally {
    await server.stop();
    steady.close();
    for (const end of ends.reverse()) await end();
  }
}
