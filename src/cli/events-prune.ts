import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readRetentionOf } from "../config/file/config-file.ts";
import { purgePages } from "../events/purge-pages.ts";
import { counted, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";

// Events, and ids, that one transaction removes.
const LIMIT = 500;
// A server that waits for the lock of the database tries again within 100 ms (SQLite's busy handler).
const PAUSE_MS = 100;

/** Removes what the retention of the configuration file does not keep. A server does the same by itself. */
export function runEventsPrune({
  dryRun: isDryRun = false,
  json,
}: {
  dryRun?: boolean;
  json?: boolean;
}): Promise<void> {
  const retention = readRetentionOf(readEnvironment());
  return withStores(async ({ events, ...stores }) => {
    const now = stores.now();
    const purged = await purgePages(
      (cursor) => events.purge({ retention, now, limit: LIMIT, cursor, isDryRun }),
      () => delay(isDryRun ? 0 : PAUSE_MS, true),
    );
    if (json) return printJson(purged);
    const megabytes = (purged.bytes / 1e6).toFixed(1);
    const what = `${counted(purged.events, "event")} (${megabytes} MB) and ${counted(purged.ids, "id")}`;
    say(isDryRun ? `Would remove ${what}.` : `Removed ${what}.`);
  });
}
