import { AppError } from "../errors.ts";
import { coalesce } from "../lib/coalesce.ts";

/** A part of the stores, with tables of its own. */
export type StorePart =
  | "events"
  | "sessions"
  | "throttle"
  | "sources"
  | "held"
  | "alerts"
  | "tokens"
  | "audit"
  | "factors"
  | "clients"
  | "nodes";

/** Why a part of the stores cannot be written now, and what to do. */
export interface StoreFault {
  part: StorePart;
  found: string;
  remedy: string;
}

/** Writes to every table, and takes it back. Returns what was refused. Throws `store_unavailable` without an answer. */
type Trial = () => Promise<StoreFault[]>;

/** A check of each part, which throws `store_unavailable` when its tables cannot be written. */
export type StoreChecks = Partial<Record<StorePart, () => Promise<void>>>;

// Anybody may ask for readiness, as often as the network allows.
const GOOD_FOR_MS = 250;

/**
 * Makes the checks of parts from trials. Checks that begin together share one, and for a moment after a good one there
 * is no other. `now` is a monotonic clock in milliseconds.
 */
export function checksOf(parts: readonly StorePart[], trial: Trial, now = () => performance.now()): StoreChecks {
  const shared = coalesce(trial);
  let goodUntil = Number.NEGATIVE_INFINITY;

  async function findFaults(): Promise<StoreFault[]> {
    if (now() < goodUntil) return [];
    const faults = await shared("");
    if (faults.length === 0) goodUntil = now() + GOOD_FOR_MS;
    return faults;
  }

  const check = async (part: StorePart) => {
    const faults = (await findFaults()).filter((fault) => fault.part === part);
    if (faults.length === 0) return;
    const cause = new Error(faults.map(({ found, remedy }) => `${found}: ${remedy}`).join("; "));
    throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause });
  };
  return Object.fromEntries(parts.map((part) => [part, () => check(part)]));
}
