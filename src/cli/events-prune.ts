import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readRetentionOf } from "../config/file/config-file.ts";
import { readSettings } from "../config/settings.ts";
import { purgePages } from "../events/pages.ts";
import { isLockHeld } from "../sqlite/data-dir.ts";
import { giveBackIfFull } from "../sqlite/reserve.ts";
import { makeChange } from "./make-change.ts";
import { counted, printJson, say } from "./output.ts";
import { PAUSE_MS, withStores } from "./stores.ts";

// Events, and ids, that one transaction removes.
const LIMIT = 500;
// On a full disk the steps are small. Several of them take as long as one of others.
const BUSY_MS = 20;

/** Removes what the retention of the configuration file does not keep. A server does the same by itself. */
export function runEventsPrune({
  dryRun: isDryRun = false,
  json,
}: {
  dryRun?: boolean;
  json?: boolean;
}): Promise<void> {
  const environment = readEnvironment();
  const retention = readRetentionOf(environment);
  const { DATA_DIR, DATABASE_URL } = readSettings(environment, ["DATA_DIR", "DATABASE_URL"]);
  const hasOwnDisk = DATABASE_URL === undefined;
  if (hasOwnDisk && !isDryRun) giveBackIfFull(DATA_DIR);
  const isAlone = () => isDryRun || (hasOwnDisk && !isLockHeld(DATA_DIR));
  return withStores(async (stores) => {
    const { events } = stores;
    const now = stores.now();
    let pausedAt = performance.now();
    const make = () =>
      purgePages(
        (cursor) => events.purge({ retention, now, limit: LIMIT, cursor, isDryRun }),
        async () => {
          if (isAlone() || performance.now() - pausedAt < BUSY_MS) return true;
          await delay(PAUSE_MS);
          pausedAt = performance.now();
          return true;
        },
      );
    const purged = await makeChange(stores, {
      action: "events.prune",
      asked: {},
      isDryRun,
      make,
      outcome: (gone) => (gone.events + gone.ids === 0 ? null : { events: gone.events, ids: gone.ids }),
    });
    if (json) return printJson(purged);
    const megabytes = (purged.bytes / 1e6).toFixed(1);
    const what = `${counted(purged.events, "event")} (${megabytes} MB) and ${counted(purged.ids, "id")}`;
    say(isDryRun ? `Would remove ${what}.` : `Removed ${what}.`);
  });
}
