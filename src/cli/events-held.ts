import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { listed, reverify } from "../operations/held.ts";
import type { OutputOf } from "../operations/operation.ts";
import { REDACTED_REASON } from "../webhook/stages/reverify.ts";
import { findSource, requireKnown } from "./find-source.ts";
import { type Performer, withPerformer } from "./operate.ts";
import { timeOption, wholeNumber } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { PAUSE_MS } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

interface HeldOptions extends RemoteOptions {
  source?: string;
  since?: string;
  limit?: string;
  utc?: boolean;
  json?: boolean;
}

type HeldItem = OutputOf<typeof listed>["items"][number];

const MAX_LISTED = 1_000_000;
const PAGE = 500;

/** Prints the deliveries that were refused for their signature and are kept, the oldest first. */
export function runEventsHeld({ limit = "50", ...options }: HeldOptions): Promise<void> {
  const most = wholeNumber("--limit", limit, MAX_LISTED);
  return withPerformer(options, async (performer) => {
    await requireKnown(performer, { source: options.source });
    const items: HeldItem[] = [];
    for await (const page of pagesOf(performer, options, Math.min(PAGE, most))) {
      items.push(...page.slice(0, most - items.length));
      if (items.length === most) break;
    }
    print(items, performer.now(), options);
  });
}

/** The held deliveries in order of arrival, page by page. */
async function* pagesOf(
  { perform, now }: Performer,
  { source, since }: Pick<HeldOptions, "source" | "since">,
  limit = PAGE,
): AsyncGenerator<HeldItem[]> {
  const filter = { source, since: since === undefined ? undefined : timeOption("--since", since, now()) };
  for (let cursor: string | undefined; ; ) {
    const page = await perform(listed, { ...filter, limit: String(limit), cursor });
    yield page.items;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

function print(rows: readonly HeldItem[], now: number, { utc, json }: HeldOptions): void {
  if (json) {
    printJson(rows);
    return;
  }
  const time = timeFormat(utc, now);
  printTable(
    ["ID", "SOURCE", "REASON", "RECEIVED", "ADDRESS", "BYTES"],
    rows.map(({ id, source, reason, receivedAt, address, bytes }) => [
      String(id),
      source,
      reason,
      time(Date.parse(receivedAt)),
      address,
      String(bytes),
    ]),
  );
}

interface ReverifyOptions extends RemoteOptions {
  source: string;
  since?: string;
  dryRun?: boolean;
  json?: boolean;
}

/** Stores the held deliveries of a source that its present secrets verify, in order of arrival. Others stay held. */
export async function runEventsReverify(options: ReverifyOptions): Promise<void> {
  const { source, dryRun = false, json } = options;
  return withPerformer(options, async (performer) => {
    const { server, asOneChange } = performer;
    if (server === null) findSource(readSources(readEnvironment()), source);
    else await requireKnown(performer, { source });
    const totals = await asOneChange(reverify, dryRun ? null : { source }, async (perform) => {
      const all: Reverified = { matched: 0, admitted: 0, duplicates: 0, refused: [] };
      for await (const page of pagesOf(performer, options)) {
        if (page.length === 0) break;
        const part = await perform(reverify, { ids: page.map(({ id }) => id), dryRun });
        for (const name of ["matched", "admitted", "duplicates"] as const) all[name] += part[name];
        all.refused.push(...part.refused);
        if (server === null && !dryRun) await delay(PAUSE_MS);
      }
      return all;
    });
    report(totals, { dryRun, json });
  });
}

type Reverified = OutputOf<typeof reverify>;

function report(
  { matched, admitted, duplicates, refused: all }: Reverified,
  { dryRun, json }: { dryRun: boolean; json: boolean | undefined },
): void {
  const refused = all.length;
  if (json && dryRun) printJson({ matched, refused });
  else if (json) printJson({ matched, admitted, duplicates, refused });
  else if (dryRun)
    say(`${counted(matched, "delivery", "deliveries")} would be admitted, and ${refused} would stay held.`);
  else say(`Admitted ${counted(admitted, "event")}. ${duplicates} were stored before, and ${refused} stay held.`);
  const redacted = all.filter(({ reason }) => reason === REDACTED_REASON).length;
  if (redacted > 0)
    say(
      `${redacted} of them were redacted when they came. Nothing verifies them any more: let the sender repeat them.`,
    );
}
