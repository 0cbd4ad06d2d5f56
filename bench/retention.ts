/**
 * What keeping and removing events costs: an hour of events in a store that keeps five minutes of them, and lists of
 * many events. Also a purge, a backup and a trial of routes beside deliveries.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DEFAULT_RETENTION, type Retention } from "../src/events/retention.ts";
import { openDatabase } from "../src/sqlite/database.ts";
import { type SqliteEvents, sqliteEvents } from "../src/sqlite/events.ts";
import { writeCorpus } from "./corpus.ts";
import { fill, processAll } from "./fill.ts";
import { playCorpus } from "./load.ts";
import { storedEvent } from "./stored-event.ts";
import { printHead, printRow } from "./table.ts";
import { EXECUTABLE, metricOf, startProduct, type Target, WEBHOOK_SECRET } from "./targets.ts";

const PER_SECOND = 2000;
const BATCH = 125;
const MINUTE_MS = 60_000;
const MINUTES = 60;
const KEPT_MS = 5 * MINUTE_MS;

/**
 * Stores, processes and removes an hour's worth of events, 2,000 for each second of a clock that runs as fast as the
 * store does. Ids are random. Payloads and ids are kept for five minutes.
 */
export function measureHour(scratch: string): void {
  const dataDir = join(scratch, "hour");
  const database = openDatabase(dataDir);
  const events = sqliteEvents(database);
  const kept = { ...DEFAULT_RETENTION.processed, forMs: KEPT_MS };
  const retention: Retention = { ...DEFAULT_RETENTION, processed: kept, idsMs: KEPT_MS };
  const payload = Buffer.alloc(260, "x");
  const start = Date.now();
  printHead(["minute", "appended/s", "purged/s", "events", "ids", "file MB", "used MB"]);
  for (let minute = 1; minute <= MINUTES; minute++) {
    let appendMs = 0;
    let purgeMs = 0;
    let purged = 0;
    for (let second = 0; second < 60; second++) {
      const now = start + (minute - 1) * MINUTE_MS + second * 1000;
      for (let n = 0; n < PER_SECOND; n += BATCH) {
        const batch = Array.from({ length: BATCH }, () =>
          storedEvent({ eventId: `evt_${randomUUID()}`, type: "payment_intent.succeeded", payload, receivedAt: now }),
        );
        const from = performance.now();
        events.append(batch);
        appendMs += performance.now() - from;
        processAll(events, BATCH, now);
      }
      const from = performance.now();
      purged += purgeAll(events, retention, now);
      purgeMs += performance.now() - from;
    }
    const { processed, ids, bytes } = events.backlog();
    printRow([
      minute,
      Math.round((60 * PER_SECOND * 1000) / appendMs),
      purged === 0 ? "-" : Math.round((purged * 1000) / purgeMs),
      processed,
      ids,
      Math.round(statSync(join(dataDir, "authserve.db")).size / 1e6),
      Math.round(bytes / 1e6),
    ]);
  }
  database.close();
}

/** Purges as a server does. Returns the number of removed events. */
function purgeAll(events: SqliteEvents, retention: Retention, now: number): number {
  let removed = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = events.purge({ retention, now, limit: 100, cursor });
    removed += page.events;
    cursor = page.next;
  }
  return removed;
}

/** Work beside deliveries. `seconds`: how long they are played, which should be longer than the work takes. */
interface Beside {
  name: string;
  seconds: number;
  work: (server: Target, run: (...args: string[]) => Promise<void>) => Promise<void>;
}

const NOTHING: Beside = { name: "nothing", seconds: 20, work: async () => {} };

/** Makes a backup, and then removes all stored events, each beside 2,000 deliveries a second. */
export async function measureBesideDeliveries(scratch: string, count: number): Promise<void> {
  const config = join(scratch, "retention.yaml");
  writeFileSync(config, "retention: { processed: 30d }\n");
  await besideDeliveries(scratch, count, { CONFIG_FILE: config }, [
    NOTHING,
    { name: "backup", seconds: 20, work: (_, run) => run("backup", join(scratch, "copy.db")) },
    {
      name: "purge",
      seconds: 60,
      async work(server) {
        writeFileSync(config, "retention: { processed: 30m }\n");
        while ((await metricOf(server, "purged_events_total")) < count) await delay(250);
      },
    },
  ]);
}

/** Tries changed routes on stored events, beside 2,000 deliveries a second. */
export async function measureRoutesTest(scratch: string, count: number): Promise<void> {
  const config = join(scratch, "new.yaml");
  writeFileSync(
    config,
    `routes:
  - { name: default, types: [payment_intent.succeeded], transform: { jsonata: "{ 'text': $event.type & $event.id }" }, log: {} }
`,
  );
  const work: Beside["work"] = (_, run) => run("routes", "test", "--since", "2h", "--config", config, "--json");
  await besideDeliveries(scratch, count, {}, [NOTHING, { name: "routes test", seconds: 60, work }]);
}

/** Does work beside deliveries, on a store with events of an hour ago. */
async function besideDeliveries(
  scratch: string,
  count: number,
  settings: Record<string, string>,
  works: readonly Beside[],
): Promise<void> {
  const dataDir = mkdtempSync(join(scratch, "full-"));
  fill(dataDir, 0, count, "random", Date.now() - 60 * MINUTE_MS);
  const env = { DATA_DIR: dataDir, ...settings };
  const server = await startProduct(scratch, env);
  const fileMb = () => Math.round(statSync(join(dataDir, "authserve.db")).size / 1e6);
  const run = async (...args: string[]) => {
    const environment = { ...server.env, ...process.env, ...env };
    const child = spawn(EXECUTABLE, args, { env: environment, stdio: ["ignore", "ignore", "inherit"] });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`${args[0]} failed`);
  };
  try {
    printHead(["beside", "took s", "deliveries/s", "errors", "p50 ms", "p99 ms", "slowest ms", "file MB", "MB after"]);
    for (const { name, seconds, work } of works) {
      const corpus = join(scratch, "beside.tsv");
      await writeCorpus(corpus, Math.ceil(seconds * PER_SECOND * 1.05), WEBHOOK_SECRET, `evt_${name}_`, "random");
      const before = fileMb();
      const load = playCorpus(server, { connections: 64, seconds, corpus, rate: PER_SECOND });
      const from = performance.now();
      await work(server, run);
      const took = (performance.now() - from) / 1000;
      const { perSecond, errors, p50Ms, p99Ms, maxMs } = await load;
      printRow([name, took.toFixed(1), Math.round(perSecond), errors, p50Ms, p99Ms, maxMs, before, fileMb()]);
    }
  } finally {
    await server.stop();
  }
}

/** Times lists, counts and a search at several numbers of stored events. */
export function measureLists(scratch: string, totals: readonly number[]): void {
  const dataDir = join(scratch, "lists");
  const hour = 60 * MINUTE_MS;
  printHead([
    "events",
    "list ms",
    "by type ms",
    "by status and source ms",
    "since 1 min ms",
    "stats ms",
    "search step ms",
  ]);
  let stored = 0;
  for (const total of totals) {
    fill(dataDir, stored, total, "random", Date.now() - hour);
    stored = total;
    const database = openDatabase(dataDir);
    const events = sqliteEvents(database);
    const lists = [
      () => events.list({ limit: 50 }),
      () => events.list({ type: "payment_intent.created", limit: 50 }),
      () => events.list({ status: "processed", source: "default", limit: 50 }),
      () => events.list({ since: Date.now() - MINUTE_MS, limit: 50 }),
      () => events.backlog(),
      () => events.list({ search: "not in any payload", limit: 50 }),
    ];
    printRow([total, ...lists.map(medianMs)]);
    database.close();
  }
}

function medianMs(run: () => unknown): string {
  const times = Array.from({ length: 11 }, () => {
    const from = performance.now();
    run();
    return performance.now() - from;
  });
  return (times.sort((a, b) => a - b)[5] ?? 0).toFixed(2);
}
