import { MINUTE_MS } from "../../lib/durations.ts";
import type { ListedAttempt } from "../provider/catch-up.ts";
import type { CatchUpItem, CatchUpState } from "./store.ts";

/** How often a provider is asked for an event that does not come. */
export const MAX_TRIES = 3;
/** The least time between two tries: a repeat may take a while to come. */
export const REST_MS = 5 * MINUTE_MS;

/** An event that a provider has, with all that it lists of it. */
export interface MissingCandidate extends ListedAttempt {
  /** When it was first due; null if the provider does not say. */
  at: number | null;
}

/**
 * The events of attempts, which are listed newest first. Those that were due first are before the others. Of each the
 * newest attempt is repeated.
 */
export function grouped(listed: readonly ListedAttempt[]): MissingCandidate[] {
  const events = new Map<string, MissingCandidate>();
  for (const attempt of listed) {
    const known = events.get(attempt.item);
    if (known === undefined) events.set(attempt.item, { ...attempt });
    else {
      known.at = known.at === null || attempt.at === null ? null : Math.min(known.at, attempt.at);
      known.outcome = better(known.outcome, attempt.outcome);
    }
  }
  return [...events.values()].reverse().sort((one, other) => (one.at ?? 0) - (other.at ?? 0));
}

const RANK: readonly ListedAttempt["outcome"][] = ["failed", "unknown", "pending", "delivered"];

/** What two attempts mean together. */
function better(one: ListedAttempt["outcome"], other: ListedAttempt["outcome"]): ListedAttempt["outcome"] {
  return RANK.indexOf(one) < RANK.indexOf(other) ? other : one;
}

/** What to do about an event. `wait`: not now. `give_up`: it was asked for too often. */
type CatchUpDecision = "seen" | "redeliver" | "capture" | "wait" | "give_up";

interface Circumstances {
  known: CatchUpItem | undefined;
  isStored: boolean;
  canRedeliver: boolean;
  /** Whether it is missing if it is not stored, though the provider has delivered it. */
  isLostHere?: boolean;
  /** Whether events from the API take the routes of the source. */
  routes: boolean;
  /** For how long the provider repeats by itself, in milliseconds. */
  repeatsForMs: number;
  now: number;
}

/** Decides what to do about an event. */
export function decide(event: MissingCandidate, circumstances: Circumstances): CatchUpDecision {
  const { known, isStored, canRedeliver, isLostHere = false, routes, repeatsForMs, now } = circumstances;
  if (isStored || known?.isDone || (event.outcome === "delivered" && !isLostHere)) return "seen";
  if (event.isGone) return "give_up";
  if (event.outcome === "pending") return "wait";
  const isStillRepeated = now - (event.at ?? now) <= repeatsForMs;
  // It may still be pending, and would not be delivered. Tries are for what the provider has given up.
  if (known && event.outcome === "unknown" && canRedeliver && isStillRepeated) return "wait";
  if (known && known.tries >= MAX_TRIES) return "give_up";
  if (known && isResting(known, now)) return "wait";
  if (canRedeliver) return "redeliver";
  // Its signed delivery would be a duplicate of one that was captured, and takes routes.
  return isStillRepeated && !routes ? "wait" : "capture";
}

/** Whether the last try was a short time ago. One that is to come was made by a clock that was ahead. */
const isResting = ({ changedAt }: CatchUpItem, now: number) => Math.abs(now - changedAt) < REST_MS;

// A server that is restarted again and again does not ask each time.
const MIN_AFTER_START_MS = MINUTE_MS;

/** Whether a source catches up now: at its interval, and after a start, because the server was away. */
export function isDue(
  state: Pick<CatchUpState, "ranAt" | "notBefore"> | null,
  { everyMs, isAfterStart, now }: { everyMs: number; isAfterStart: boolean; now: number },
): boolean {
  if (state === null || state.ranAt > now) return true;
  if (state.notBefore !== null) return now >= state.notBefore;
  return now >= state.ranAt + (isAfterStart ? Math.min(everyMs, MIN_AFTER_START_MS) : everyMs);
}
