import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readRetentionOf } from "../config/file/config-file.ts";
import { readSettings } from "../config/settings.ts";
import type { OperationContext } from "../operations/operation.ts";
import { prune } from "../operations/prune.ts";
import { isLockHeld } from "../sqlite/data-dir.ts";
import { giveBackIfFull } from "../sqlite/reserve.ts";
import { askedOf, withPerformer } from "./operate.ts";
import { counted, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { PAUSE_MS } from "./stores.ts";

interface PruneOptions extends RemoteOptions {
  dryRun?: boolean;
  json?: boolean;
}

/** Removes what the retention of the configuration file does not keep. A server does the same by itself. */
export function runEventsPrune({ dryRun = false, json, ...remote }: PruneOptions): Promise<void> {
  const own = remoteServer(remote) === null ? prepare(dryRun) : {};
  return withPerformer(
    remote,
    async ({ asOneChange }) => {
      const { cursor: _, ...purged } = await asOneChange(prune, askedOf(prune, { dryRun }), async (perform) => {
        const total = { events: 0, ids: 0, bytes: 0, cursor: null as string | null };
        do {
          const page = await perform(prune, { dryRun, cursor: total.cursor ?? undefined });
          for (const name of ["events", "ids", "bytes"] as const) total[name] += page[name];
          total.cursor = page.cursor;
        } while (total.cursor !== null);
        return total;
      });
      if (json) return printJson(purged);
      const megabytes = (purged.bytes / 1e6).toFixed(1);
      const what = `${counted(purged.events, "event")} (${megabytes} MB) and ${counted(purged.ids, "id")}`;
      say(dryRun ? `Would remove ${what}.` : `Removed ${what}.`);
    },
    own,
  );
}

// On a full disk the steps are small. Several of them take as long as one of others.
const BUSY_MS = 20;

/** Reads the retention, and makes room on a full disk. A server gets its turn after some pages. */
function prepare(isDryRun: boolean): Pick<OperationContext, "retention" | "pace"> {
  const environment = readEnvironment();
  const retention = readRetentionOf(environment);
  const { DATA_DIR, DATABASE_URL } = readSettings(environment, ["DATA_DIR", "DATABASE_URL"]);
  const hasOwnDisk = DATABASE_URL === undefined;
  if (hasOwnDisk && !isDryRun) giveBackIfFull(DATA_DIR);
  const isAlone = () => isDryRun || (hasOwnDisk && !isLockHeld(DATA_DIR));
  let pausedAt = performance.now();
  return {
    retention: async () => retention,
    pace: () => async () => {
      if (isAlone() || performance.now() - pausedAt < BUSY_MS) return true;
      await delay(PAUSE_MS);
      pausedAt = performance.now();
      return true;
    },
  };
}
