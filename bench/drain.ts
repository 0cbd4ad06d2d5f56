import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DEFAULT_ROUTE } from "../src/events/job.ts";
import type { NewEvent } from "../src/events/store.ts";
import { openDatabase } from "../src/sqlite/database.ts";
import { sqliteEvents } from "../src/sqlite/events.ts";
import { figureLine, GOALS } from "./goals.ts";
import { spreadOf } from "./load.ts";
import { storedEvent } from "./stored-event.ts";
import { hundredths, printHead, printRow, whole } from "./table.ts";
import { startCeiling, startProduct } from "./targets.ts";

/** How many events are stored before each start of the server, and with how many ordering keys. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 50_000);
const KEYS = 10_000;

/**
 * Measures how fast stored events are processed: logged, posted to a local server, and both with an ordering key. The
 * kinds take turns, because the machine's speed varies.
 */
export async function measureDrain(scratch: string, rounds: number): Promise<void> {
  const target = await startCeiling(scratch);
  const to = `to: ${target.url}/events`;
  const kinds = {
    log: "log: {}",
    "log, ordered": "log: {}, orderBy: customer",
    http: to,
    "http, ordered": `${to}, orderBy: customer`,
  };
  const rates: Record<string, number[]> = {};
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const [kind, handler] of Object.entries(kinds)) {
        const perSecond = await drain(scratch, handler);
        console.error(`round ${round}, ${kind}: ${Math.round(perSecond)}/s`);
        rates[kind] = [...(rates[kind] ?? []), perSecond];
      }
    }
  } finally {
    await target.stop();
  }
  const of = (kind: string) => rates[kind] ?? [];
  const ratios = (kind: string) => of(`${kind}, ordered`).map((rate, round) => rate / (of(kind)[round] ?? 1));
  printHead(["handler", "jobs/s", "ordered jobs/s", "ordered of unordered"]);
  for (const kind of ["log", "http"]) {
    printRow([
      kind,
      whole(spreadOf(of(kind))),
      whole(spreadOf(of(`${kind}, ordered`))),
      hundredths(spreadOf(ratios(kind))),
    ]);
  }
  console.log();
  console.log(figureLine("drain, log", spreadOf(of("log")).median, "/s", GOALS.drainLog));
  console.log(figureLine("drain, http", spreadOf(of("http")).median, "/s", GOALS.drainHttp));
  console.log(figureLine("ordered, log", spreadOf(ratios("log")).median, "x", GOALS.orderedOfUnordered));
  console.log(figureLine("ordered, http", spreadOf(ratios("http")).median, "x", GOALS.orderedOfUnordered));
}

/** Drains a new SQLite store. */
const drain = (scratch: string, handler: string): Promise<number> =>
  drainStore(scratch, handler, { DATA_DIR: fillSqlite(scratch, EVENTS) });

/** Makes a store with so many events to process. Returns its folder. */
export function fillSqlite(scratch: string, count: number): string {
  const dir = join(scratch, `drain-${Math.random().toString(36).slice(2)}`);
  const database = openDatabase(dir);
  const events = sqliteEvents(database);
  for (const batch of drainedEvents(count)) events.append(batch);
  database.close();
  return dir;
}

/** Starts the server on a store full of events. Returns how many it processes per second, until all are. */
export async function drainStore(scratch: string, handler: string, env: NodeJS.ProcessEnv): Promise<number> {
  const file = join(scratch, "drain.yaml");
  writeFileSync(file, `routes: [{ name: bench, ${handler} }]\n`);
  const server = await startProduct(scratch, { ...env, CONFIG_FILE: file, LOG_LEVEL: "warn" });
  const { queued: before } = await counts(server.url);
  const from = performance.now();
  for (;;) {
    await delay(50);
    const { queued } = await counts(server.url);
    if (queued > 0) continue;
    const seconds = (performance.now() - from) / 1000;
    await server.stop();
    return before / seconds;
  }
}

async function counts(url: string): Promise<{ queued: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return { queued: Number(/^authserve_events_queued (\d+)$/m.exec(text)?.[1]) };
}

/** Events to drain, in batches. */
export function* drainedEvents(count: number): Generator<NewEvent[]> {
  const now = Date.now();
  for (let from = 0; from < count; from += 1000) {
    yield Array.from({ length: 1000 }, (_, index) => {
      const id = from + index;
      const payload = Buffer.from(JSON.stringify({ customer: id % KEYS, text: "x".repeat(230) }));
      return storedEvent({ eventId: `evt_${id}`, type: "payment_intent.succeeded", payload, receivedAt: now });
    });
  }
}

/** Measures claims of a route whose jobs wait behind few ordering keys: 10 keys of 50,000 jobs. */
export function measureClaims(scratch: string): void {
  const keys = 10;
  const jobsOfKey = Number(process.env.BENCH_JOBS_OF_KEY ?? 50_000);
  const database = openDatabase(join(scratch, "claims"));
  database.pragma("synchronous = OFF");
  const events = sqliteEvents(database);
  for (const batch of drainedEvents(keys * jobsOfKey)) events.append(batch);
  for (;;) {
    const pending = events.pending(10_000);
    if (pending.length === 0) break;
    const jobs = pending.map(({ id, receivedAt }) => ({
      event: id,
      route: DEFAULT_ROUTE,
      dueAt: receivedAt,
      orderingKey: String(id % keys),
    }));
    events.addJobs(
      pending.map(({ id }) => id),
      jobs,
    );
  }
  database.pragma("synchronous = FULL");
  const times: number[] = [];
  for (let round = 0; round < 500; round++) {
    const now = Date.now();
    const from = performance.now();
    const { claimed } = events.claim({
      route: DEFAULT_ROUTE,
      owner: "bench",
      limit: 128,
      leaseMs: 1000,
      retryDelaysMs: [],
      now,
    });
    times.push(performance.now() - from);
    events.settle(
      claimed.map(({ event, route, attempt }) => ({
        ...{ event, route, attempt, owner: "bench", next: { to: "processed" as const } },
        ...{ startedAt: now, finishedAt: now, error: null },
      })),
    );
  }
  database.close();
  times.sort((one, other) => one - other);
  console.log(figureLine("claim, p50", times[250] ?? 0, "ms", GOALS.claimMs));
  console.log(figureLine("claim, p99", times[495] ?? 0, "ms", GOALS.claimMs));
}
