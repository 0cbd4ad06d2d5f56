import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import { admitHeld } from "../webhook/held/admit.ts";
import type { HeldFilter, HeldStore, HeldSummary } from "../webhook/held/held-store.ts";
import { createReverify, REDACTED_REASON } from "../webhook/held/reverify.ts";
import { findSource, requireFiltered } from "./find-source.ts";
import { parseTime, wholeNumber } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { PAUSE_MS, withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

interface HeldOptions {
  source?: string;
  since?: string;
  limit?: string;
  utc?: boolean;
  json?: boolean;
}

const MAX_LISTED = 1_000_000;

/** Prints the deliveries that were refused for their signature and are kept, the oldest first. */
export function runEventsHeld({ source, since, limit = "50", utc, json }: HeldOptions): Promise<void> {
  const most = wholeNumber("--limit", limit, MAX_LISTED);
  return withStores(async (stores) => {
    const { held, now: clock } = stores;
    await requireFiltered(stores, { source });
    const now = clock();
    const rows = await held.list({ ...filterOf(source, since, now), limit: most });
    if (json) return printJson(rows.map((row) => ({ ...row, receivedAt: isoTime(row.receivedAt) })));
    const time = timeFormat(utc, now);
    printTable(
      ["ID", "SOURCE", "REASON", "RECEIVED", "ADDRESS", "BYTES"],
      rows.map(({ id, source, reason, receivedAt, address, bytes }) => [
        String(id),
        source,
        reason,
        time(receivedAt),
        address,
        String(bytes),
      ]),
    );
  });
}

interface ReverifyOptions {
  source: string;
  since?: string;
  dryRun?: boolean;
  json?: boolean;
}

const PAGE = 500;

/** Stores the held deliveries of a source that its present secrets verify, in order of arrival. Others stay held. */
export function runEventsReverify({ source: name, since, dryRun = false, json }: ReverifyOptions): Promise<void> {
  const source = findSource(readSources(readEnvironment()), name);
  const reverify = createReverify(source);
  return withStores(async ({ held, events, now }) => {
    const totals = { genuine: 0, admitted: 0, duplicates: 0, refused: 0 };
    let redacted = 0;
    for await (const page of pagesOf(held, filterOf(name, since, now()))) {
      for await (const part of partsOf(held, page)) {
        const { genuine, admitted, duplicates, refused } = await admitHeld({ events, held }, part, reverify, dryRun);
        totals.genuine += genuine;
        totals.refused += refused.length;
        redacted += refused.filter(({ reason }) => reason === REDACTED_REASON).length;
        totals.duplicates += duplicates;
        totals.admitted += admitted;
      }
      if (!dryRun) await delay(PAUSE_MS);
    }
    report(totals, { dryRun, json });
    if (redacted > 0)
      say(
        `${redacted} of them were redacted when they came. Nothing verifies them any more: let the sender repeat them.`,
      );
  });
}

function report(
  { genuine, admitted, duplicates, refused }: Record<"genuine" | "admitted" | "duplicates" | "refused", number>,
  { dryRun, json }: { dryRun: boolean; json: boolean | undefined },
): void {
  if (json && dryRun) printJson({ matched: genuine, refused });
  else if (json) printJson({ matched: genuine, admitted, duplicates, refused });
  else if (dryRun)
    say(`${counted(genuine, "delivery", "deliveries")} would be admitted, and ${refused} would stay held.`);
  else say(`Admitted ${counted(admitted, "event")}. ${duplicates} were stored before, and ${refused} stay held.`);
}

function filterOf(source: string | undefined, since: string | undefined, now: number): Omit<HeldFilter, "limit"> {
  return {
    ...(source !== undefined && { source }),
    ...(since !== undefined && { since: parseTime("--since", since, now) }),
  };
}

async function* pagesOf(held: HeldStore, filter: Omit<HeldFilter, "limit">): AsyncGenerator<HeldSummary[]> {
  for (let after = 0; ; ) {
    const page = await held.list({ ...filter, after, limit: PAGE });
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)?.id ?? after;
  }
}

/** Reads the deliveries of a page, in parts that fit into memory. */
async function* partsOf(held: HeldStore, page: readonly HeldSummary[]) {
  let ids = page.map(({ id }) => id);
  while (ids.length > 0) {
    const part = await held.read(ids);
    const last = part.at(-1)?.id;
    if (last === undefined) return;
    yield part;
    ids = ids.filter((id) => id > last);
  }
}
