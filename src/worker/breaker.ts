import { MAX_WAIT_MS } from "../events/job.ts";

/** A probe is the one attempt at a time that an open breaker lets through. */
export type AttemptKind = "attempt" | "probe";

/** What is known of an attempt besides its result. */
interface TargetAnswer {
  /** The route that made it. */
  route: string;
  /** How long the target asks to be left alone. */
  retryAfterMs?: number | undefined;
}

const FAILURES_TO_OPEN = 5;
const FIRST_PROBE_WAIT_MS = 1000;
const MAX_PROBE_WAIT_MS = 30_000;

/**
 * Creates the closed circuit breaker of one target: it holds back attempts while the target is unavailable. `onChange`
 * is called when it opens and closes, with the route whose attempt did so. Times are milliseconds of a clock that is
 * never set.
 */
export function createBreaker(onChange: (isOpen: boolean, route: string) => void = () => {}) {
  let failures = 0;
  /** Set while the breaker is open. */
  let open: { since: number; waitMs: number; probeAt: number; isProbing: boolean } | undefined;

  function close(route: string): void {
    failures = 0;
    if (!open) return;
    open = undefined;
    onChange(false, route);
  }

  return {
    isOpen: () => open !== undefined,
    /** When it opened; null while it is closed. */
    openSince: () => open?.since ?? null,
    /** How many attempts may begin now. */
    allowedAttempts(now: number): number {
      if (!open) return Number.POSITIVE_INFINITY;
      return open.isProbing || now < open.probeAt ? 0 : 1;
    },
    /** When the next probe may begin; null while the breaker is closed or a probe is running. */
    probeAt: () => (open && !open.isProbing ? open.probeAt : null),
    /** Lets the next probe begin now. */
    probeNow(now: number): void {
      if (open) open.probeAt = Math.min(open.probeAt, now);
    },
    /** Begins an attempt. Returns null if none may begin. */
    begin(now: number): AttemptKind | null {
      if (!open) return "attempt";
      if (open.isProbing || now < open.probeAt) return null;
      open.isProbing = true;
      return "probe";
    },
    /** Ends an attempt begun by {@link begin}. `isReached`: the target was available. */
    end(kind: AttemptKind, isReached: boolean, now: number, { route, retryAfterMs = 0 }: TargetAnswer) {
      if (isReached) return close(route);
      const askedUntil = now + Math.min(retryAfterMs, MAX_WAIT_MS);
      if (!open) {
        failures++;
        if (failures < FAILURES_TO_OPEN) return;
        const probeAt = Math.max(now + FIRST_PROBE_WAIT_MS, askedUntil);
        open = { since: now, waitMs: FIRST_PROBE_WAIT_MS, probeAt, isProbing: false };
        onChange(true, route);
      } else if (kind === "probe") {
        const waitMs = Math.min(2 * open.waitMs, MAX_PROBE_WAIT_MS);
        open = { ...open, waitMs, probeAt: Math.max(now + waitMs, askedUntil), isProbing: false };
      } else open.probeAt = Math.max(open.probeAt, askedUntil);
    },
    /** Ends an attempt without a result, e.g. an interrupted one. */
    cancel(kind: AttemptKind): void {
      if (open && kind === "probe") open.isProbing = false;
    },
  };
}

export type Breaker = ReturnType<typeof createBreaker>;
