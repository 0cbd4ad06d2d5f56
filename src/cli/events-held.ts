import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type HeldFilter, type HeldStore, type HeldSummary, readInParts } from "../webhook/held/held-store.ts";
import { type AdmittedHeld, admitHeld, createReverify, REDACTED_REASON } from "../webhook/stages/reverify.ts";
import { findSource, requireFiltered, requireFilteredThere } from "./find-source.ts";
import { makeChange } from "./make-change.ts";
import { parseTime, wholeNumber } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { remoteHeld } from "./remote-held.ts";
import { PAUSE_MS, withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

interface HeldOptions extends RemoteOptions {
  source?: string;
  since?: string;
  limit?: string;
  utc?: boolean;
  json?: boolean;
}

const MAX_LISTED = 1_000_000;

/** Prints the deliveries that were refused for their signature and are kept, the oldest first. */
export async function runEventsHeld({ limit = "50", ...options }: HeldOptions): Promise<void> {
  const { source, since } = options;
  const most = wholeNumber("--limit", limit, MAX_LISTED);
  const server = remoteServer(options);
  if (server !== null) {
    await requireFilteredThere(server, { source });
    const now = Date.now();
    print(await remoteHeld(server).list({ ...filterOf(source, since, now), limit: most }), now, options);
    return;
  }
  return withStores(async (stores) => {
    const { held, now: clock } = stores;
    await requireFiltered(stores, { source });
    const now = clock();
    print(await held.list({ ...filterOf(source, since, now), limit: most }), now, options);
  });
}

function print(rows: readonly HeldSummary[], now: number, { utc, json }: HeldOptions): void {
  if (json) {
    printJson(rows.map((row) => ({ ...row, receivedAt: isoTime(row.receivedAt) })));
    return;
  }
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
}

interface ReverifyOptions extends RemoteOptions {
  source: string;
  since?: string;
  dryRun?: boolean;
  json?: boolean;
}

const PAGE = 500;

/** Stores the held deliveries of a source that its present secrets verify, in order of arrival. Others stay held. */
export async function runEventsReverify({ source: name, since, dryRun = false, ...options }: ReverifyOptions) {
  const server = remoteServer(options);
  if (server !== null) {
    await requireFilteredThere(server, { source: name });
    const held = remoteHeld(server);
    const reverify = (page: HeldSummary[]) => held.reverify(page, dryRun);
    return report(await reverifyPages(held, filterOf(name, since, Date.now()), reverify), { ...options, dryRun });
  }
  const source = findSource(readSources(readEnvironment()), name);
  const verify = createReverify(source);
  return withStores(async (stores) => {
    const { held, events, now } = stores;
    const reverify = async (page: HeldSummary[]) => {
      const totals = noneReverified();
      for await (const part of readInParts(held, page))
        addTo(totals, await admitHeld({ events, held }, part, verify, dryRun));
      if (!dryRun) await delay(PAUSE_MS);
      return totals;
    };
    const totals = await makeChange(stores, {
      action: "held.reverify",
      asked: { source: name },
      isDryRun: dryRun,
      make: () => reverifyPages(held, filterOf(name, since, now()), reverify),
      outcome: ({ admitted }) => ({ admitted }),
    });
    report(totals, { ...options, dryRun });
  });
}

const noneReverified = (): AdmittedHeld => ({ genuine: 0, admitted: 0, duplicates: 0, refused: [] });

function addTo(totals: AdmittedHeld, { genuine, admitted, duplicates, refused }: AdmittedHeld): void {
  totals.genuine += genuine;
  totals.admitted += admitted;
  totals.duplicates += duplicates;
  totals.refused.push(...refused);
}

/** Takes all pages of a filter, in order of arrival. */
async function reverifyPages(
  held: Pick<HeldStore, "list">,
  filter: Omit<HeldFilter, "limit">,
  reverify: (page: HeldSummary[]) => Promise<AdmittedHeld>,
): Promise<AdmittedHeld> {
  const totals = noneReverified();
  for await (const page of pagesOf(held, filter)) addTo(totals, await reverify(page));
  return totals;
}

function report(
  { genuine, admitted, duplicates, refused: all }: AdmittedHeld,
  { dryRun, json }: { dryRun: boolean; json?: boolean },
): void {
  const refused = all.length;
  if (json && dryRun) printJson({ matched: genuine, refused });
  else if (json) printJson({ matched: genuine, admitted, duplicates, refused });
  else if (dryRun)
    say(`${counted(genuine, "delivery", "deliveries")} would be admitted, and ${refused} would stay held.`);
  else say(`Admitted ${counted(admitted, "event")}. ${duplicates} were stored before, and ${refused} stay held.`);
  const redacted = all.filter(({ reason }) => reason === REDACTED_REASON).length;
  if (redacted > 0)
    say(
      `${redacted} of them were redacted when they came. Nothing verifies them any more: let the sender repeat them.`,
    );
}

function filterOf(source: string | undefined, since: string | undefined, now: number): Omit<HeldFilter, "limit"> {
  return {
    ...(source !== undefined && { source }),
    ...(since !== undefined && { since: parseTime("--since", since, now) }),
  };
}

async function* pagesOf(
  held: Pick<HeldStore, "list">,
  filter: Omit<HeldFilter, "limit">,
): AsyncGenerator<HeldSummary[]> {
  for (let after = 0; ; ) {
    const page = await held.list({ ...filter, after, limit: PAGE });
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)?.id ?? after;
  }
}
