import type { EraseFilter } from "../events/erase.ts";
import type { Remains } from "../events/erasure.ts";
import type { RemoteServer } from "./remote.ts";
import { filterOf } from "./remote-changes.ts";

/** What was erased, with times as texts. */
export interface Erased {
  events: {
    source: string;
    eventId: string;
    payloadSha256: string;
    receivedAt: string;
    erasedAt?: string | null;
    running: number;
  }[];
  held: { id: number; source: string; receivedAt: string; bodySha256: string }[];
  refused: { eventId: string; reason: string }[];
  remains: Remains | null;
  /** Keys that are missing: what they encrypt was not searched. */
  missingKeys: string[];
}

interface Selected {
  ids: readonly string[];
  source: string | undefined;
  /** One after the other. Null: by id. */
  filters: readonly EraseFilter[] | null;
  reason: string;
  isDryRun: boolean;
}

/** Ids of one request: each is erased by itself, and a request ends in time. */
const IDS = 100;

/**
 * Erases events of another machine, request by request, until it is asked to stop. `next` is null if all is done.
 */
export async function eraseThere(
  server: RemoteServer,
  { ids, source, filters, reason, isDryRun }: Selected,
  isStopAsked: () => boolean,
): Promise<Erased & { next: string | null }> {
  const all: Erased = { events: [], held: [], refused: [], remains: null, missingKeys: [] };
  async function ask(selection: object): Promise<string | null> {
    const { cursor, ...found } = await server.post<Erased & { cursor: string | null }>("events/erase", {
      ...selection,
      reason,
      dryRun: isDryRun,
    });
    all.events.push(...found.events);
    all.held.push(...found.held);
    all.refused.push(...found.refused);
    all.missingKeys = found.missingKeys;
    all.remains = found.remains ?? all.remains;
    return cursor;
  }

  if (filters === null) {
    for (let at = 0; at < ids.length; at += IDS) {
      await ask({ ids: ids.slice(at, at + IDS), source });
      const [next = null] = ids.slice(at + IDS);
      if (isStopAsked()) return { ...all, next };
    }
    return { ...all, next: null };
  }
  let cursor: string | undefined;
  for (const filter of filters) {
    do {
      cursor = (await ask({ filter: filterOf(filter), cursor })) ?? undefined;
    } while (cursor !== undefined && !isStopAsked());
    if (cursor !== undefined) break;
  }
  return { ...all, next: cursor ?? null };
}
