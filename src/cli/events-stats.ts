import { printJson } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { isoTime } from "./time.ts";

/** Prints how many events there are of each status, and since when the oldest waits. */
export function runEventsStats({ json }: { json?: boolean }): Promise<void> {
  return withStores(async ({ events }) => {
    const { oldestQueuedAt, ...counts } = await events.backlog();
    const shown = { ...counts, oldestQueuedAt: isoTime(oldestQueuedAt) };
    if (json) printJson(shown);
    else printTable(Object.keys(shown), [Object.values(shown).map((value) => String(value ?? "-"))]);
  });
}
