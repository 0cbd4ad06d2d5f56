import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { DATABASE_SETTING_NAMES, REDIS_SETTING_NAMES, readSettings } from "../../../src/config/settings.ts";
import type { EventStore } from "../../../src/events/store.ts";
import { createLog } from "../../../src/log.ts";
import { databaseFile } from "../../../src/sqlite/database.ts";
import { inspectDatabase } from "../../../src/sqlite/maintenance/inspect.ts";
import { openCommandStores } from "../../../src/stores.ts";
import { createJudge, type Faults, type Ledger, logoutFaults } from "./verdict.ts";

/** Locates the stores of the test. */
interface StoreSettings {
  DATA_DIR: string;
  ENCRYPTION_KEYS: string;
  DATABASE_URL?: string;
}

const POLL_INTERVAL_MS = 50;
const DRAIN_MS = 60_000;
const DRAIN_MS_PER_EVENT = 20;

const PAGE = 1000;

/**
 * Waits until a server has no queued event and the app is told of all sessions, or the server has ended. It gives up
 * after a minute and some time for each event.
 */
export async function drain(
  settings: StoreSettings,
  events: number,
  isRunning: () => boolean,
  isTold: () => boolean,
): Promise<void> {
  const givesUpAt = performance.now() + DRAIN_MS + events * DRAIN_MS_PER_EVENT;
  await withEvents(settings, async (store) => {
    const isWaiting = () => isRunning() && performance.now() < givesUpAt;
    while (isWaiting() && (!isTold() || (await store.backlog()).queued > 0)) await delay(POLL_INTERVAL_MS);
  });
}

/** Compares the database of a stopped server with the ledger. The events of a damaged database are not read. */
export async function judge(settings: StoreSettings, ledger: Ledger): Promise<{ stored: number; faults: Faults }> {
  const damage = damageOf(settings);
  if (damage.length > 0) {
    const none = { lost: [], unexpected: [], notSettledOnce: [] };
    return { stored: 0, faults: { ...none, outOfOrder: ledger.outOfOrder, logouts: logoutFaults(ledger), damage } };
  }
  const { add, verdict } = createJudge(ledger);
  await withEvents(settings, async (store) => {
    let before: string | null | undefined;
    while (before !== null) {
      const page = await store.list({ limit: PAGE, ...(before === undefined ? {} : { before }) });
      for (const { eventId, source } of page.items) for (const event of await store.get(eventId, source)) add(event);
      before = page.older;
      // The reads never wait. A signal that came meanwhile is handled between two turns.
      await nextTurn();
    }
  });
  return verdict();
}

/** Faults in the pages of a SQLite file. PostgreSQL recovers its own. */
function damageOf({ DATA_DIR, DATABASE_URL }: StoreSettings): string[] {
  return DATABASE_URL === undefined ? inspectDatabase(databaseFile(DATA_DIR), { whole: true }).damage : [];
}

async function withEvents(environment: StoreSettings, use: (events: EventStore) => Promise<void>): Promise<void> {
  const settings = readSettings({ ...environment }, [
    "DATA_DIR",
    "ENCRYPTION_KEYS",
    ...DATABASE_SETTING_NAMES,
    ...REDIS_SETTING_NAMES,
  ]);
  const stores = await openCommandStores(settings, createLog("silent"));
  try {
    await use(stores.events);
  } finally {
    await stores.close();
  }
}
