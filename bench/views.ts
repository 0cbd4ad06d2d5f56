import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../src/sqlite/database.ts";
import { sqliteEvents } from "../src/sqlite/events.ts";
import { CLAIM, fanOut, fill } from "./fill.ts";
import { storedEvent } from "./stored-event.ts";
import { printHead, printRow } from "./table.ts";
import { EMAIL, PASSWORD, startProduct } from "./targets.ts";

const DAY_MS = 86_400_000;
const DAYS = 30;
const FAILED = 20_000;
const ROUNDS = 5;

/** The requests of each view of the admin page. `EVENT` stands for the id of an event in the middle. */
const VIEWS: Record<string, string[]> = {
  overview: ["status", "stats?step=minute&since=HOUR", "stats?step=hour&since=DAY", "stats?step=day&since=MONTH"],
  events: ["events?limit=50"],
  "events by type": ["events?limit=50&type=payment_intent.created"],
  "events by types with *": ["events?limit=50&type=*.created,!invoice.*"],
  "events, failed": ["events?limit=50&status=failed"],
  "events of a day": ["events?limit=50&since=MONTH&until=MONTH_AND_DAY"],
  "search of an id": ["events?limit=50&search=EVENT"],
  "search of nothing there": ["events?limit=50&search=not-in-any-event"],
  event: ["events/-?id=EVENT"],
  "dead letters": ["jobs/errors", "jobs?limit=50&status=failed"],
  routes: ["routes/one?name=default", "shadows"],
  sources: ["sources", "presets"],
  refused: ["refusals", "held?limit=50"],
  "outages, alerts, audit": ["outages", "alerts", "audit?limit=200"],
  "tokens, denied, session": ["tokens", "access/denials", "session"],
};

/** Measures how long the API takes for each view of the page, with many events of 30 days, some of them failed. */
export async function measureViews(scratch: string, total: number): Promise<void> {
  const dataDir = join(scratch, "views");
  mkdirSync(dataDir);
  const now = Date.now();
  for (let day = 1; day <= DAYS; day++) {
    const before = Math.round((total * (day - 1)) / DAYS);
    fill(dataDir, before, Math.round((total * day) / DAYS), "random", now - (DAYS - day) * DAY_MS - 3_600_000);
    console.error(`day ${day} is filled`);
  }
  const eventId = failSome(dataDir, now);
  const server = await startProduct(scratch, { DATA_DIR: dataDir, RETENTION_DAYS: "400" });
  try {
    const { accessToken } = (await (
      await fetch(`${server.url}/auth/login`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
      })
    ).json()) as { accessToken: string };
    printHead(["view", "first ms", "median ms"]);
    for (const [view, paths] of Object.entries(VIEWS)) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const from = performance.now();
        await Promise.all(
          paths.map((path) => read(`${server.url}/admin/api/${filled(path, eventId, now)}`, accessToken)),
        );
        times.push(performance.now() - from);
      }
      const first = times[0] ?? 0;
      printRow([view, first.toFixed(0), (times.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0).toFixed(0)]);
    }
  } finally {
    await server.stop();
  }
}

const filled = (path: string, eventId: string, now: number) =>
  path
    .replace("EVENT", eventId)
    .replace("MONTH_AND_DAY", new Date(now - (DAYS - 1) * DAY_MS).toISOString())
    .replace("MONTH", new Date(now - DAYS * DAY_MS).toISOString())
    .replace("DAY", new Date(now - DAY_MS).toISOString())
    .replace("HOUR", new Date(now - 3_600_000).toISOString());

async function read(url: string, token: string): Promise<void> {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
}

/** Adds dead letters. Returns the id of an event in the middle. */
function failSome(dataDir: string, now: number): string {
  const database = openDatabase(dataDir);
  const events = sqliteEvents(database);
  const payload = Buffer.alloc(260, "x");
  events.append(
    Array.from({ length: FAILED }, (_, index) =>
      storedEvent({
        eventId: `evt_failed_${index}`,
        type: "order.refunded",
        payload,
        receivedAt: now - index * 60_000,
      }),
    ),
  );
  fanOut(events, FAILED);
  const { claimed } = events.claim({ ...CLAIM, limit: FAILED, now });
  events.settle(
    claimed.map(({ event, route, attempt }) => {
      const next = { to: "failed" as const, reason: `the target answered ${500 + (event % 4)}` };
      return { event, route, owner: CLAIM.owner, attempt, next, startedAt: now, finishedAt: now, error: next.reason };
    }),
  );
  const { event_id: eventId } = database
    .prepare("SELECT event_id FROM events WHERE id = (SELECT max(id) / 2 FROM events)")
    .get() as { event_id: string };
  database.close();
  return eventId;
}
