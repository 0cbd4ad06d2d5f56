import { spawnSync } from "node:child_process";
import { cpSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../src/sqlite/database.ts";
import { sqliteEvents } from "../src/sqlite/events.ts";
import type { Ids } from "./corpus.ts";
import { CLAIM, fanOut, fill } from "./fill.ts";
import { type LoadResult, playRun, prepareRun, spreadOf } from "./load.ts";
import { storedEvent } from "./stored-event.ts";
import { hundredths, printHead, printRow, tenths, whole } from "./table.ts";
import { removeScratch, rssMb, startProduct } from "./targets.ts";

const CONNECTIONS = 64;

/** How many events are stored, with which ids, and how they are measured. */
interface Growth {
  total: number;
  ids: Ids;
  rounds: number;
  seconds: number;
}

/**
 * Fills the store, and measures intake, claim, list, file size and memory at every power of ten. Intake is measured on
 * a copy, in turn with an empty store: the machine's speed varies more than the effect of the stored events.
 */
export async function measureGrowth(scratch: string, { total, ids, rounds, seconds }: Growth): Promise<void> {
  const dataDir = join(scratch, "growth-data");
  const run = await prepareRun(scratch, seconds, "evt_m", ids);

  async function playOn(storeAt?: string): Promise<LoadResult & { rssMb: number }> {
    const runDir = join(scratch, "growth-run");
    if (storeAt) cpSync(storeAt, runDir, { recursive: true });
    // Otherwise unwritten data of the copy would be written during the run.
    spawnSync("sync");
    const server = await startProduct(scratch, { DATA_DIR: runDir });
    try {
      return { ...(await playRun(server, CONNECTIONS, run)), rssMb: rssMb(server.pid) };
    } finally {
      await server.stop();
      removeScratch(runDir);
    }
  }

  printHead([
    "events",
    "intake/s",
    "of an empty store",
    "p99 ms",
    "claim ms",
    "list ms",
    "list by type ms",
    "file MB",
    "RSS MB",
  ]);
  for (let stored = 0, target = 1000; target <= total; stored = target, target *= 10) {
    fill(dataDir, stored, target, ids);
    const timing = timeStore(dataDir);
    const megabytes = statSync(join(dataDir, "authserve.db")).size / 1e6;
    const results = [];
    for (let round = 1; round <= rounds; round++) {
      const empty = await playOn();
      const grown = await playOn(dataDir);
      console.error(
        `${target} events, round ${round}: ${Math.round(grown.perSecond)}/s, empty ${Math.round(empty.perSecond)}/s`,
      );
      results.push({ ...grown, toEmpty: grown.perSecond / empty.perSecond });
    }
    printRow([
      target,
      whole(spreadOf(results.map(({ perSecond }) => perSecond))),
      hundredths(spreadOf(results.map(({ toEmpty }) => toEmpty))),
      tenths(spreadOf(results.map(({ p99Ms }) => p99Ms))),
      timing.claimMs,
      timing.listMs,
      timing.listByTypeMs,
      Math.round(megabytes),
      whole(spreadOf(results.map((result) => result.rssMb))),
    ]);
  }
}

function timeStore(dataDir: string): { claimMs: number; listMs: number; listByTypeMs: number } {
  const database = openDatabase(dataDir);
  const events = sqliteEvents(database);
  const now = Date.now();
  events.append([
    storedEvent({ eventId: `evt_claim_${now}`, type: "rare", payload: Buffer.from("{}"), receivedAt: now }),
  ]);
  fanOut(events, 1);
  const time = (run: () => unknown) => {
    const startedAt = performance.now();
    run();
    return Math.round((performance.now() - startedAt) * 100) / 100;
  };
  const claimMs = time(() => events.claim({ ...CLAIM, limit: 1, now }));
  const listMs = time(() => events.list({ limit: 50 }));
  const listByTypeMs = time(() => events.list({ type: "rare", limit: 50 }));
  database.close();
  return { claimMs, listMs, listByTypeMs };
}
