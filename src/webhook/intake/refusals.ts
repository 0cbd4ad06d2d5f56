import type { ErrorCode } from "../../errors.ts";

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

const KEPT = 100;
/** So many paths that no source has are kept, each once, so that they do not push the others out. */
const KEPT_PATHS = 20;

/** Keeps the newest refusals of this server in memory. */
export function createRecentRefusals(now: () => number) {
  let refusals: RecentRefusal[] = [];

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
      refusals.length = Math.min(refusals.length, KEPT);
    },
    /** Forgets those to paths that no source had. */
    forgetPaths(): void {
      refusals = refusals.filter(({ path }) => path === null);
    },
    /** The newest first. */
    list: (): readonly RecentRefusal[] => refusals,
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
