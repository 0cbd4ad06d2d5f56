import { statSync } from "node:fs";
import { join } from "node:path";
import { openEventStore } from "../src/events/open.ts";
import { openDatabase } from "../src/sqlite/database.ts";
import { eventIdOf, type Ids, writeCorpusFor } from "./corpus.ts";
import { playCorpus, WARM_UP_SECONDS } from "./load.ts";
import { printHead, printRow } from "./table.ts";
import { rssMb, startProduct, WEBHOOK_SECRET } from "./targets.ts";

const RUN_SECONDS = 5;

/** Fills the store and measures intake, claim, list, file size and memory at every power of ten on the way. */
export async function measureGrowth(scratch: string, total: number, ids: Ids): Promise<void> {
  const corpus = join(scratch, "growth.tsv");
  const warmUp = join(scratch, "warm-up.tsv");
  const dataDir = join(scratch, "growth-data");
  printHead(["events", "intake/s", "p99 ms", "claim ms", "list ms", "list by type ms", "file MB", "RSS MB"]);
  let stored = 0;
  for (let target = 1000; target <= total; target *= 10) {
    stored += fill(dataDir, stored, target, ids);
    const timing = await timeStore(dataDir);
    await writeCorpusFor(RUN_SECONDS, corpus, WEBHOOK_SECRET, `evt_m${target}_`, ids);
    await writeCorpusFor(WARM_UP_SECONDS, warmUp, WEBHOOK_SECRET, `evt_w${target}_`, ids);
    const server = await startProduct(scratch, { DATA_DIR: dataDir });
    try {
      const warmed = await playCorpus(server, { connections: 64, seconds: WARM_UP_SECONDS, corpus: warmUp });
      const result = await playCorpus(server, { connections: 64, seconds: RUN_SECONDS, corpus });
      stored += warmed.requests + result.requests;
      const megabytes = statSync(join(dataDir, "authserve.db")).size / 1e6;
      printRow([
        target,
        Math.round(result.perSecond),
        result.p99Ms,
        timing.claimMs,
        timing.listMs,
        timing.listByTypeMs,
        Math.round(megabytes),
        Math.round(rssMb(server.pid)),
      ]);
    } finally {
      await server.stop();
    }
  }
}

/** Adds processed events directly until so many are stored. Returns how many were added. */
function fill(dataDir: string, stored: number, target: number, ids: Ids): number {
  const database = openDatabase(dataDir);
  database.pragma("synchronous = OFF");
  // 1 GB: the index of random ids is filled all over.
  database.pragma("cache_size = -1000000");
  const insert = database.prepare(`
    INSERT INTO events (source, event_id, type, status, attempts, due_at, received_at, processed_at, address, headers, content_type, payload)
    VALUES ('default', ?, ?, 'processed', 1, ?, ?, ?, '127.0.0.1', ?, 'application/json', ?)`);
  const addAttempt = database.prepare(
    "INSERT INTO attempts (event, attempt, started_at, finished_at, outcome) VALUES (?, 1, ?, ?, 'succeeded')",
  );
  const payload = Buffer.alloc(260, "x");
  const headers = JSON.stringify({ host: "127.0.0.1", "content-type": "application/json", "content-length": "260" });
  const add = database.transaction((from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const at = Date.now();
      const { lastInsertRowid } = insert.run(
        eventIdOf(ids, "evt_fill_", i),
        i % 3 ? "payment_intent.succeeded" : "payment_intent.created",
        at,
        at,
        at,
        headers,
        payload,
      );
      addAttempt.run(lastInsertRowid, at, at);
    }
  });
  const missing = Math.max(0, target - stored);
  for (let from = stored; from < stored + missing; from += 50_000) add(from, Math.min(from + 50_000, stored + missing));
  database.close();
  return missing;
}

async function timeStore(dataDir: string): Promise<{ claimMs: number; listMs: number; listByTypeMs: number }> {
  const database = openDatabase(dataDir);
  const events = openEventStore(database);
  const now = Date.now();
  await events.append([
    {
      source: "bench",
      eventId: `evt_claim_${now}`,
      type: "rare",
      contentType: "application/json",
      payload: Buffer.from("{}"),
      address: "127.0.0.1",
      headers: "{}",
      receivedAt: now,
    },
  ]);
  const time = async (run: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await run();
    return Math.round((performance.now() - startedAt) * 100) / 100;
  };
  const claimMs = await time(() => events.claim({ owner: "bench", limit: 1, leaseMs: 1, maxAttempts: 5, now }));
  const listMs = await time(() => events.list({ limit: 50 }));
  const listByTypeMs = await time(() => events.list({ type: "rare", limit: 50 }));
  database.close();
  return { claimMs, listMs, listByTypeMs };
}
