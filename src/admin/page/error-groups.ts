import type { ErrorGroup, ErrorsPage } from "./answers.ts";

/** Adds groups of dead letters to those known. The most frequent come first. */
function mergeGroups(known: readonly ErrorGroup[], more: readonly ErrorGroup[]): ErrorGroup[] {
  const byName = new Map<string, ErrorGroup>();
  for (const group of [...known, ...more]) {
    const name = groupKey(group);
    const before = byName.get(name);
    byName.set(name, before ? joined(before, group) : group);
  }
  return [...byName.values()].sort((a, b) => b.count - a.count || (a.newestAt < b.newestAt ? 1 : -1));
}

/** What makes a group different from others. */
export const groupKey = ({ route, error }: Pick<ErrorGroup, "route" | "error">) => JSON.stringify([route, error]);

function joined(a: ErrorGroup, b: ErrorGroup): ErrorGroup {
  const { newestAt, eventId, source } = a.newestAt < b.newestAt ? b : a;
  const oldestAt = a.oldestAt < b.oldestAt ? a.oldestAt : b.oldestAt;
  return { ...a, count: a.count + b.count, oldestAt, newestAt, eventId, source };
}

/** Reads all groups, page by page. */
export async function readGroups(read: (cursor: string | undefined) => Promise<ErrorsPage>): Promise<ErrorGroup[]> {
  let groups: ErrorGroup[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await read(cursor);
    groups = mergeGroups(groups, page.items);
    cursor = page.cursor;
  }
  return groups;
}
