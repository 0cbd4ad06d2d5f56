import type { ErrorCode } from "../../errors.ts";
import { DAY_MS } from "../../lib/durations.ts";
import type { KeptRefusal } from "./refusal-store.ts";

/** A delivery that was refused. The time is Unix milliseconds. */
export interface RecentRefusal {
  receivedAt: number;
  /** Null if no source has its path. */
  source: string | null;
  /** The path that no source has, and the one that was probably meant. */
  path: string | null;
  near: string | null;
  /** A code of errors, or why there was that error. */
  reason: string;
  address: string;
}

/** So many of the newest are kept, for so long. */
export const KEPT_REFUSALS = 100;
export const KEPT_REFUSALS_MS = 30 * DAY_MS;
/** So many paths that no source has are kept, each once, so that they do not push the others out. */
const KEPT_PATHS = 20;

/** Keeps the newest refusals in memory: of this server, and those that were stored before its start. */
export function createRecentRefusals(now: () => number) {
  let refusals: RecentRefusal[] = [];
  /** How many of the newest to paths of sources are not stored yet. */
  let unsaved = 0;

  /** Makes room for a path. */
  function forgetPath(path: string): void {
    const paths = refusals.filter((refusal) => refusal.path !== null);
    const replaced = paths.find((refusal) => refusal.path === path) ?? paths[KEPT_PATHS - 1];
    refusals = refusals.filter((refusal) => refusal !== replaced);
  }

  return {
    add(refusal: Pick<RecentRefusal, "source" | "reason" | "address"> & Partial<RecentRefusal>): void {
      const { path = null, near = null } = refusal;
      if (path !== null) forgetPath(path);
      refusals.unshift({ receivedAt: now(), ...refusal, path, near });
      refusals.length = Math.min(refusals.length, KEPT_REFUSALS);
      if (refusal.source !== null) unsaved++;
    },
    /** Adds those that were stored, the newest first, behind what came since the start. */
    restore(stored: readonly KeptRefusal[]): void {
      const earlier = stored.map((refusal) => ({ ...refusal, path: null, near: null }));
      refusals = [...refusals, ...earlier].slice(0, KEPT_REFUSALS);
    },
    /** Those to be stored, the oldest first. A mistyped path is a text of the sender, and is not. */
    take(): KeptRefusal[] {
      const ofSources = refusals.flatMap(({ receivedAt, source, reason, address }) =>
        source === null ? [] : [{ receivedAt, source, reason, address }],
      );
      const taken = ofSources.slice(0, unsaved).reverse();
      unsaved = 0;
      return taken;
    },
    /** So many that were taken could not be stored. */
    giveBack(count: number): void {
      unsaved += count;
    },
    /** Forgets those to paths that no source had. */
    forgetPaths(): void {
      refusals = refusals.filter(({ path }) => path === null);
    },
    /** The newest first. */
    list(): readonly RecentRefusal[] {
      const since = now() - KEPT_REFUSALS_MS;
      return refusals.filter(({ receivedAt }) => receivedAt >= since);
    },
  };
}

export type RecentRefusals = ReturnType<typeof createRecentRefusals>;

/** The codes with which the server refuses deliveries for reasons of its own, whether they are genuine or not. */
const OWN: readonly ErrorCode[] = ["intake_paused", "queue_full", "store_unavailable", "internal_error"];

const WINDOW_MS = 60_000;

/** Counts the deliveries of the last minute that were refused for reasons of the server. */
interface OwnRefusals {
  add(code: ErrorCode): void;
  /** The counts by code. */
  count(): Record<string, number>;
}

/** `clock` is in milliseconds, and never goes back. */
export function createOwnRefusals(clock = () => performance.now()): OwnRefusals {
  /** Counts by the second, the oldest first. */
  let counts: { second: number; code: ErrorCode; number: number }[] = [];
  return {
    add(code) {
      if (!OWN.includes(code)) return;
      const second = Math.floor(clock() / 1000);
      const known = counts.findLast((count) => count.second === second && count.code === code);
      if (known) known.number++;
      else counts.push({ second, code, number: 1 });
      if (counts.length > 2 * OWN.length * (WINDOW_MS / 1000)) counts = recent(counts, clock());
    },
    count() {
      counts = recent(counts, clock());
      const sums: Record<string, number> = {};
      for (const { code, number } of counts) sums[code] = (sums[code] ?? 0) + number;
      return sums;
    },
  };
}

function recent<T extends { second: number }>(counts: readonly T[], now: number): T[] {
  return counts.filter(({ second }) => second > (now - WINDOW_MS) / 1000);
}
