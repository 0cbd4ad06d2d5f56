import type { CountedPage, PageRequest } from "./store.ts";

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
