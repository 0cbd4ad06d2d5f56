import { hash } from "node:crypto";
import type { Stat } from "../../events/stats.ts";

/** Numbers of refused deliveries by reason: a code of errors, or why there was that error. */
export type Refusals = Readonly<Record<string, number>>;

/**
 * A stored time that is later than now by more than this is of a clock that was ahead. Clocks of servers may differ by
 * less.
 */
export const AHEAD_MS = 60_000;

/** What a source has received and refused since the last report. All times are Unix milliseconds. */
export interface SourceCounts {
  source: string;
  received: number;
  /** Those of the received that were stored before. */
  duplicates: number;
  /** Those of the received whose id is that of an event with other bytes. */
  conflicts: number;
  /** Those of the received that have the bytes of an event, and another id. */
  repeats: number;
  refused: number;
  /** The refused by their reason. */
  refusals: Refusals;
  lastReceivedAt: number | null;
  /** When each secret, by name and the mark of its value, last verified a delivery. */
  secrets: { name: string; mark: string; lastUsedAt: number }[];
}

/** What is known of a source. All times are Unix milliseconds. */
export interface SourceRecord {
  source: string;
  received: number;
  refused: number;
  /** The refused by their reason, since they are counted so; the most frequent first. */
  refusals: Refusals;
  lastReceivedAt: number | null;
  /** The secret that was used last, by name. */
  lastSecret: string | null;
  /**
   * The secrets that have verified deliveries, the last used first. Each with the mark of its value, see
   * secret-mark.ts.
   */
  secrets: { name: string; mark: string; firstUsedAt: number; lastUsedAt: number }[];
}

/** The use of a secret of a source. */
export type SecretUse = SourceRecord["secrets"][number] & { source: string };

/** What is counted of a source, and of one reason for its refusals. */
export type CountsRow = Omit<SourceRecord, "refusals" | "lastSecret" | "secrets">;
export type RefusalRow = { source: string; reason: string; count: number };

/** The records of sources, from rows in the order of a list. */
export function recordsOf(
  counts: readonly CountsRow[],
  refusals: readonly RefusalRow[],
  secrets: readonly SecretUse[],
): SourceRecord[] {
  const refusedBy = Map.groupBy(refusals, ({ source }) => source);
  const secretsOf = Map.groupBy(secrets, ({ source }) => source);
  return counts.map((row) => {
    const own = (secretsOf.get(row.source) ?? []).map(({ source: _, ...secret }) => secret);
    const reasons = (refusedBy.get(row.source) ?? []).map(({ reason, count }) => [reason, count]);
    return { ...row, refusals: Object.fromEntries(reasons), lastSecret: own[0]?.name ?? null, secrets: own };
  });
}

/** A secret that a handshake brought. Anybody can send one. */
export interface ReceivedSecret {
  source: string;
  value: string;
  /** Unix milliseconds. */
  receivedAt: number;
  /** The sender's address. */
  address: string;
}

/**
 * Keeps what each source has received and refused, and the secrets that handshakes brought. Each method is one
 * transaction.
 */
export interface SourceStore {
  /**
   * Adds counts, and to the statistics of the minute of `now` those of deliveries that stored no event. Times only move
   * forward: an older one never replaces a newer one, unless that is ahead of now. A use of a secret with another
   * value, by its mark, is the first one again.
   */
  add(counts: SourceCounts[], now: number): Promise<void>;
  /** Every source with counts, in the order of the names. Those that are no longer configured are included. */
  list(): Promise<SourceRecord[]>;
  /** Keeps a secret unless its source has `most` others. Returns whether it is kept, also if it was before. */
  keepSecret(secret: ReceivedSecret, most: number): Promise<boolean>;
  /** The kept secrets of all sources, in the order of the sources, the first received first. */
  keptSecrets(): Promise<ReceivedSecret[]>;
  forgetSecrets(secrets: Pick<ReceivedSecret, "source" | "value">[]): Promise<void>;
}

// Secrets that handshakes brought are few and rare, so they are in the table `metadata`.
const SECRET_PREFIX = "received_secret ";

/** The range of the keys in `metadata` that belong to the secrets of a source, or to all of them. */
export function secretKeys(source?: string): { from: string; to: string } {
  return source === undefined
    ? { from: SECRET_PREFIX, to: `${SECRET_PREFIX}~` }
    : { from: `${SECRET_PREFIX}${source} `, to: `${SECRET_PREFIX}${source}!` };
}

/** The key of a secret in `metadata`. */
export function secretKey({ source, value }: Pick<ReceivedSecret, "source" | "value">): string {
  return `${SECRET_PREFIX}${source} ${hash("sha256", value)}`;
}

const order = (one: string, other: string) => Number(one > other) - Number(one < other);

/** Kept secrets in their order. `values` are those of `metadata`. */
export function secretsIn(values: readonly string[]): ReceivedSecret[] {
  return values
    .map((text) => JSON.parse(text) as ReceivedSecret)
    .sort((a, b) => order(a.source, b.source) || a.receivedAt - b.receivedAt || order(a.value, b.value));
}

/** The statistics of deliveries that stored no event, each with its count. */
export function statsOf(
  { source, duplicates, conflicts, repeats, refused }: SourceCounts,
  at: number,
): [Stat, number][] {
  const counts = [
    ["duplicate", duplicates],
    ["conflict", conflicts],
    ["repeat", repeats],
    ["refused", refused],
  ] as const;
  return counts.flatMap(([outcome, count]) =>
    count === 0 ? [] : [[{ at, source, outcome }, count] as [Stat, number]],
  );
}
