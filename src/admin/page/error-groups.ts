import type { Answer, ErrorGroup } from "./answers.ts";

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
  const [oldestAt] = [a.oldestAt, b.oldestAt].sort() as [string];
  const [firstFailedAt] = [a.firstFailedAt, b.firstFailedAt].sort() as [string];
  const lastFailedAt = [a.lastFailedAt, b.lastFailedAt].sort()[1] as string;
  return {
    ...a,
    ...{ oldestAt, newestAt, firstFailedAt, lastFailedAt, eventId, source },
    count: a.count + b.count,
    sources: summed(a.sources, b.sources),
    types: summed(a.types, b.types),
    trend: a.trend.map((count, hour) => count + (b.trend[hour] ?? 0)),
  };
}

function summed(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

/** Reads all groups, page by page. */
export async function readGroups(
  read: (cursor: string | undefined) => Promise<Answer<"jobs/errors">>,
): Promise<ErrorGroup[]> {
  let groups: ErrorGroup[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await read(cursor);
    groups = mergeGroups(groups, page.items);
    cursor = page.cursor;
  }
  return groups;
}
