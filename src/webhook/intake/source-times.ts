import { AHEAD_MS, type SecretUse, type SourceCounts, type SourceRecord, type SourceStore } from "./source-store.ts";

type SourceTime = Pick<SourceRecord, "source" | "lastReceivedAt">;

/** When sources have received last, and when their secrets were used. */
interface SourceTimes {
  times: SourceTime[];
  secrets: SecretUse[];
}

/** The times of the sources of some reports, in order, after them. `known` are those of any sources before. */
export function timesAfter(reports: readonly SourceCounts[], known: SourceTimes, now: number): SourceTimes {
  const reported = new Set(reports.map(({ source }) => source));
  const isReported = ({ source }: SourceTime | SecretUse) => reported.has(source);
  const times = new Map(known.times.filter(isReported).map((time) => [time.source, time]));
  const secrets = new Map(known.secrets.filter(isReported).map((use) => [nameOf(use), use]));
  for (const { source, lastReceivedAt, secrets: used } of reports) {
    const earlier = times.get(source)?.lastReceivedAt ?? null;
    times.set(source, { source, lastReceivedAt: later(earlier, lastReceivedAt, now) });
    for (const { name, mark, lastUsedAt } of used) {
      const use = { source, name, mark, firstUsedAt: lastUsedAt, lastUsedAt };
      secrets.set(nameOf(use), useAfter(secrets.get(nameOf(use)), use, now));
    }
  }
  return { times: [...times.values()], secrets: [...secrets.values()] };
}

const nameOf = ({ source, name }: Pick<SecretUse, "source" | "name">) => JSON.stringify([source, name]);

/** Times only move forward, unless the known one is ahead of now. */
function later(known: number | null, given: number | null, now: number): number | null {
  if (known === null || given === null) return known ?? given;
  return known > now + AHEAD_MS ? given : Math.max(known, given);
}

/** A use of another value is the first one again, unless it is older than the known one. */
function useAfter(known: SecretUse | undefined, use: SecretUse, now: number): SecretUse {
  if (known === undefined) return use;
  const lastUsedAt = later(known.lastUsedAt, use.lastUsedAt, now) as number;
  if (known.mark !== use.mark) return lastUsedAt === use.lastUsedAt ? use : known;
  return { ...use, firstUsedAt: Math.min(known.firstUsedAt, use.firstUsedAt), lastUsedAt };
}

/**
 * Returns a function that replaces a stored time in the future by the time when this server first saw it. So periods
 * that are measured from it can end. Times are Unix milliseconds.
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
