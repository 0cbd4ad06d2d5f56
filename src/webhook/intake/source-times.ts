import { AHEAD_MS, type SourceRecord, type SourceStore } from "./source-store.ts";

/**
 * Returns a function that lets a stored time ahead of now count as the time when it was first found. Otherwise nothing that is
 * measured from it would end before the clock is there. Times are Unix milliseconds.
 */
export function createTimeBound(now: () => number): (key: string, time: number) => number {
  const found = new Map<string, { time: number; at: number }>();
  return (key, time) => {
    const at = now();
    if (time <= at + AHEAD_MS) {
      found.delete(key);
      return time;
    }
    const known = found.get(key);
    if (known?.time === time && known.at <= at) return known.at;
    found.set(key, { time, at });
    return at;
  };
}

/** A source store whose records have no time ahead of now. */
export function withBoundTimes(store: SourceStore, now: () => number): SourceStore {
  const bound = createTimeBound(now);

  function boundRecord({ source, lastReceivedAt, secrets, ...record }: SourceRecord): SourceRecord {
    const uses = secrets.map(({ name, mark, firstUsedAt, lastUsedAt }) => {
      const key = JSON.stringify([source, name, mark]);
      const last = bound(key, lastUsedAt);
      return { name, mark, firstUsedAt: Math.min(firstUsedAt, last), lastUsedAt: last };
    });
    uses.sort((one, other) => other.lastUsedAt - one.lastUsedAt);
    return {
      ...record,
      source,
      lastReceivedAt: lastReceivedAt && bound(source, lastReceivedAt),
      lastSecret: uses[0]?.name ?? null,
      secrets: uses,
    };
  }

  return { ...store, list: async () => (await store.list()).map(boundRecord) };
}
