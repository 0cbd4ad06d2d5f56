import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NewEvent } from "../../src/events/store.ts";
import { openDatabase } from "../../src/sqlite/database.ts";
import { sqliteEvents } from "../../src/sqlite/events.ts";
import { syncSmallStores } from "../../src/sqlite/sync-small-stores.ts";
import { PLAIN_CODEC } from "../../src/storage/payload-codec.ts";
import { workingDir } from "../../test/helpers/working-dir.ts";

const MINUTE_MS = 60_000;
const MINUTES = 24 * 60;
const ROUTE = "billing";

const SENDERS = [
  { source: "stripe", types: ["invoice.paid", "charge.succeeded", "customer.updated"], secret: "env:STRIPE_SECRET" },
  { source: "shopify", types: ["orders/create", "orders/paid"], secret: "env:SHOPIFY_SECRET" },
  { source: "github", types: ["push"], secret: "env:GITHUB_SECRET" },
];

const FILE = `sources:
  stripe: { preset: stripe, secrets: [env:STRIPE_SECRET], expectEvery: 10m }
  shopify: { preset: shopify, secrets: [env:SHOPIFY_SECRET, env:SHOPIFY_OLD] }
  github: { preset: github, secrets: [env:GITHUB_SECRET], expectEvery: 30m }
routes:
  - { name: billing, to: "http://127.0.0.1:9/billing" }
  - { name: audit, source: github, types: ["!*"], log: {} }
alerts: { failureRate: off }
`;

export const SECRETS = Object.fromEntries(
  ["STRIPE_SECRET", "SHOPIFY_SECRET", "SHOPIFY_OLD", "GITHUB_SECRET"].map((name) => [name, `a secret of ${name}`]),
);

/** Pseudo-random numbers from 0 to 1, the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Makes the directory of a shop whose server has had events for a day, fewer by night, and an outage of its app. */
export function makeShop(now: number): string {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), FILE);
  const database = openDatabase(join(dir, "data"));
  const events = sqliteEvents(database);
  const sources = syncSmallStores(database, PLAIN_CODEC).sources;
  const random = randomNumbers(7);
  for (let minute = MINUTES; minute > 0; minute--) {
    const at = now - minute * MINUTE_MS;
    const share = 0.35 + 0.65 * Math.sin((Math.PI * (MINUTES - minute)) / MINUTES) ** 2;
    const isOutage = minute > 95 && minute < 130;
    const batch = Array.from({ length: Math.round(12 * share + 5 * random()) }, (_, n) =>
      eventOf(random, at, `${minute}_${n}`),
    );
    events.append(batch);
    const found = events.pending(1000);
    const jobs = found.map(({ id, receivedAt }) => ({ event: id, route: ROUTE, dueAt: receivedAt, orderingKey: null }));
    events.addJobs(
      found.map(({ id }) => id),
      jobs,
    );
    const { claimed } = events.claim({
      route: ROUTE,
      owner: "a",
      limit: 1000,
      leaseMs: 1,
      retryDelaysMs: [],
      now: at + MINUTE_MS,
    });
    events.settle(
      claimed.map(({ event, route, attempt, receivedAt }) => {
        const hasFailed = isOutage ? random() < 0.3 : random() < 0.001;
        const error = hasFailed ? (isOutage ? "the target answered 503" : "the target answered 422") : null;
        const tookMs = Math.round(8 + 60 * random() ** 4 * (isOutage ? 30 : 1));
        const next = hasFailed
          ? { to: "failed" as const, reason: `attempt 1 of 1: ${error}` }
          : { to: "processed" as const };
        const response = hasFailed ? '{"error":"upstream is down"}' : "ok";
        return {
          event,
          route,
          attempt,
          owner: "a",
          next,
          startedAt: receivedAt + 2,
          finishedAt: receivedAt + tookMs,
          error,
          response,
        };
      }),
    );
    sources.add(countsOf(batch), at);
  }
  database.close();
  return dir;
}

function eventOf(random: () => number, at: number, id: string): NewEvent {
  const { source, types, secret } =
    SENDERS[random() < 0.6 ? 0 : random() < 0.8 ? 1 : 2] ?? (SENDERS[0] as (typeof SENDERS)[0]);
  const type = types[Math.floor(random() * types.length)] as string;
  const object = {
    id: `in_${id}`,
    customer: `cus_${Math.floor(random() * 9000 + 1000)}`,
    amount_paid: Math.floor(random() * 90_000),
    currency: "eur",
    paid: true,
  };
  const body = {
    id: `evt_${id}`,
    object: "event",
    type,
    created: Math.floor(at / 1000),
    livemode: true,
    data: { object },
  };
  return {
    source,
    eventId: body.id,
    type,
    bytesSha256: null,
    sameWithinMs: null,
    secret,
    contentType: "application/json",
    payload: Buffer.from(JSON.stringify(body)),
    address: "203.0.113.40",
    headers: '{"user-agent":"Sender/1.0","accept":"*/*","content-type":"application/json"}',
    receivedAt: at + Math.floor(random() * 50_000),
  };
}

function countsOf(batch: readonly NewEvent[]) {
  return batch.map(({ source, secret, receivedAt }) => ({
    source,
    received: 1,
    duplicates: 0,
    conflicts: 0,
    repeats: 0,
    refused: 0,
    refusals: {},
    lastReceivedAt: receivedAt,
    secrets: [{ name: secret, mark: "0000", lastUsedAt: receivedAt }],
  }));
}
