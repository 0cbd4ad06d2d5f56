import type { CountedPage, PageRequest, PurgedPage } from "./store.ts";

/** Takes, or only counts, the events of one page. */
export type TakePage = (page: PageRequest) => Promise<CountedPage>;

/** Takes pages until the last one, or until `between`, called with the number so far, returns false. */
export async function eachPage(
  take: TakePage,
  page: PageRequest,
  between: (taken: number) => Promise<boolean>,
): Promise<{ taken: number; next: string | null }> {
  let { count: taken, next } = await take(page);
  while (next !== null && (await between(taken))) {
    const found = await take({ ...page, cursor: next });
    taken += found.count;
    next = found.next;
  }
  return { taken, next };
}

/** What a purge has removed. */
export type Purged = Omit<PurgedPage, "next" | "fruitlessMs">;

/**
 * Takes pages of a purge until the last one, or until `between` returns false. Returns what all of them have removed,
 * and the cursor that continues it.
 */
export async function purgePages(
  take: (cursor: string | undefined) => Promise<PurgedPage>,
  between: () => Promise<boolean>,
  from?: string,
): Promise<Purged & { cursor: string | null }> {
  const purged = { events: 0, ids: 0, bytes: 0 };
  let cursor = from;
  do {
    const page = await take(cursor);
    for (const name of ["events", "ids", "bytes"] as const) purged[name] += page[name];
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && (await between()));
  return { ...purged, cursor: cursor ?? null };
}
