import { isoTime } from "../lib/iso-time.ts";
import { printJson } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";

/** Prints the number of events of each status, and the receipt of the oldest queued event. */
export function runEventsStats({ json }: { json?: boolean }): Promise<void> {
  return withStores(async ({ events }) => {
    const { oldestQueuedAt, ...counts } = await events.backlog();
    const shown = { ...counts, oldestQueuedAt: isoTime(oldestQueuedAt) };
    if (json) printJson(shown);
    else printTable(Object.keys(shown), [Object.values(shown).map((value) => String(value ?? "-"))]);
  });
}
