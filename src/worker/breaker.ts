/** What an attempt is to a breaker: one of many, or the one that asks whether the target is back. */
export type Permit = "attempt" | "probe";

/** Holds back attempts while their target cannot be reached. Times are Unix milliseconds. */
export interface Breaker {
  /** How many attempts may begin now. */
  places(now: number): number;
  /** When the next probe may begin; null while attempts may, or a probe is under way. */
  probeAt(): number | null;
  /** Begins an attempt; null when none may. */
  begin(now: number): Permit | null;
  /** Ends an attempt that {@link begin} has permitted. `isReached` says that the target answered for itself. */
  end(permit: Permit, isReached: boolean, now: number): void;
  /** Takes an attempt back that has learnt nothing of the target. */
  forget(permit: Permit): void;
}

const FAILURES_TO_OPEN = 5;
const FIRST_PROBE_WAIT_MS = 1000;
const LONGEST_PROBE_WAIT_MS = 30_000;

/** Creates the closed breaker of one target; `onChange` is told when it opens and closes. */
export function createBreaker(onChange: (isOpen: boolean) => void = () => {}): Breaker {
  let failures = 0;
  /** While it is open. */
  let open: { waitMs: number; probeAt: number; isProbing: boolean } | undefined;

  function close(): void {
    failures = 0;
    if (!open) return;
    open = undefined;
    onChange(false);
  }

  return {
    places(now) {
      if (!open) return Number.POSITIVE_INFINITY;
      return open.isProbing || now < open.probeAt ? 0 : 1;
    },
    probeAt: () => (open && !open.isProbing ? open.probeAt : null),
    begin(now) {
      if (!open) return "attempt";
      if (open.isProbing || now < open.probeAt) return null;
      open.isProbing = true;
      return "probe";
    },
    end(permit, isReached, now) {
      if (isReached) return close();
      if (!open) {
        failures++;
        if (failures < FAILURES_TO_OPEN) return;
        open = { waitMs: FIRST_PROBE_WAIT_MS, probeAt: now + FIRST_PROBE_WAIT_MS, isProbing: false };
        onChange(true);
      } else if (permit === "probe") {
        const waitMs = Math.min(2 * open.waitMs, LONGEST_PROBE_WAIT_MS);
        open = { waitMs, probeAt: now + waitMs, isProbing: false };
      }
    },
    forget(permit) {
      if (open && permit === "probe") open.isProbing = false;
    },
  };
}
