import type { PurgedPage } from "./store.ts";

/** What a purge has removed. */
export type Purged = Omit<PurgedPage, "next" | "fruitlessMs">;

/**
 * Takes pages of a purge until the last one, or until `between` returns false. Returns what all of them have removed.
 */
export async function purgePages(
  take: (cursor: string | undefined) => Promise<PurgedPage>,
  between: () => Promise<boolean>,
): Promise<Purged> {
  const purged = { events: 0, ids: 0, bytes: 0 };
  let cursor: string | undefined;
  do {
    const page = await take(cursor);
    for (const name of ["events", "ids", "bytes"] as const) purged[name] += page[name];
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && (await between()));
  return purged;
}
