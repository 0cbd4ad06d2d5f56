/** A probe is the one attempt at a time that an open breaker lets through. */
export type AttemptKind = "attempt" | "probe";

/**
 * A circuit breaker: holds back attempts while their target is unavailable. Times are milliseconds of a clock that is
 * never set.
 */
export interface Breaker {
  isOpen(): boolean;
  /** When it opened; null while it is closed. */
  openSince(): number | null;
  /** How many attempts may begin now. */
  allowedAttempts(now: number): number;
  /** When the next probe may begin; null while the breaker is closed or a probe is running. */
  probeAt(): number | null;
  /** Lets the next probe begin now. */
  probeNow(now: number): void;
  /** Begins an attempt. Returns null if none may begin. */
  begin(now: number): AttemptKind | null;
  /** Ends an attempt begun by {@link begin}. `isReached`: the target was available. */
  end(kind: AttemptKind, isReached: boolean, now: number): void;
  /** Ends an attempt without a result, e.g. an interrupted one. */
  cancel(kind: AttemptKind): void;
}

const FAILURES_TO_OPEN = 5;
const FIRST_PROBE_WAIT_MS = 1000;
const MAX_PROBE_WAIT_MS = 30_000;

/** Creates the closed breaker of one target; `onChange` is called when it opens and closes. */
export function createBreaker(onChange: (isOpen: boolean) => void = () => {}): Breaker {
  let failures = 0;
  /** Set while the breaker is open. */
  let open: { since: number; waitMs: number; probeAt: number; isProbing: boolean } | undefined;

  function close(): void {
    failures = 0;
    if (!open) return;
    open = undefined;
    onChange(false);
  }

  return {
    isOpen: () => open !== undefined,
    openSince: () => open?.since ?? null,
    allowedAttempts(now) {
      if (!open) return Number.POSITIVE_INFINITY;
      return open.isProbing || now < open.probeAt ? 0 : 1;
    },
    probeAt: () => (open && !open.isProbing ? open.probeAt : null),
    probeNow(now) {
      if (open) open.probeAt = Math.min(open.probeAt, now);
    },
    begin(now) {
      if (!open) return "attempt";
      if (open.isProbing || now < open.probeAt) return null;
      open.isProbing = true;
      return "probe";
    },
    end(kind, isReached, now) {
      if (isReached) return close();
      if (!open) {
        failures++;
        if (failures < FAILURES_TO_OPEN) return;
        open = { since: now, waitMs: FIRST_PROBE_WAIT_MS, probeAt: now + FIRST_PROBE_WAIT_MS, isProbing: false };
        onChange(true);
      } else if (kind === "probe") {
        const waitMs = Math.min(2 * open.waitMs, MAX_PROBE_WAIT_MS);
        open = { ...open, waitMs, probeAt: now + waitMs, isProbing: false };
      }
    },
    cancel(kind) {
      if (open && kind === "probe") open.isProbing = false;
    },
  };
}
