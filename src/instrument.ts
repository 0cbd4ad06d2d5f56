import type { AccessOutcome } from "./auth/access/denials.ts";
import type { PasswordVerifier } from "./auth/people/passwords.ts";
import { AppError, describeError, type ErrorCode, PROBLEMS } from "./errors.ts";
import type { ComparisonOutcome } from "./events/shadow.ts";
import { OUTCOME_OF } from "./events/stats.ts";
import type { Appended, EventStore, NewEvent } from "./events/store.ts";
import type { Metrics } from "./metrics.ts";
import type { OnPurged } from "./worker/purger.ts";
import type { OnExpired, OnSettled } from "./worker/worker.ts";

/** Wraps `append` so that it counts deliveries by result, and times commits. */
export function countAppends(events: Pick<EventStore, "append">, metrics: Metrics): Append {
  return async (batch) => {
    const committed = metrics.commitSeconds.startTimer();
    const results = await events.append(batch);
    committed();
    metrics.batchEvents.observe(batch.length);
    const stored = results.filter(({ error }) => error === undefined).length;
    const duplicates = results.filter(({ duplicate }) => duplicate).length;
    const conflicts = results.filter(({ conflict }) => conflict).length;
    const repeats = results.filter(({ repeat }) => repeat).length;
    const count = (result: string, number: number) => {
      if (number > 0) metrics.deliveries.inc({ result }, number);
    };
    count("new", stored - duplicates);
    count("duplicate", duplicates - conflicts - repeats);
    count("conflict", conflicts);
    count("repeat", repeats);
    return results;
  };
}

type Append = (batch: NewEvent[]) => Promise<Appended[]>;

/** Wraps `append` so that `error` tells why the last one failed; null if it did not. */
export function watchAppends(append: Append): { append: Append; error(): string | null } {
  let last: string | null = null;
  return {
    async append(batch) {
      try {
        const results = await append(batch);
        last = null;
        return results;
      } catch (error) {
        last = describeError(error);
        throw error;
      }
    },
    error: () => last,
  };
}

/** Counts refused deliveries by error code, and those with 403 also by the reason that is not sent to the sender. */
export function countRefused(metrics: Metrics): (code: ErrorCode, reason?: string) => void {
  return (code, reason) => {
    metrics.refusals.inc({ code });
    if (reason !== undefined && PROBLEMS[code].status === 403) metrics.refusalReasons.inc({ reason });
  };
}

/** Counts attempts by outcome, and the duration of attempts and of processing. */
export function countSettled(metrics: Metrics): OnSettled {
  return (event, { next, startedAt, finishedAt }, isLeased) => {
    metrics.attempts.inc({ outcome: isLeased ? OUTCOME_OF[next.to] : "lease_lost" });
    metrics.attemptSeconds.observe(secondsBetween(startedAt, finishedAt));
    if (isLeased && next.to === "processed" && !event.isReplay) {
      metrics.processingSeconds.observe(secondsBetween(event.receivedAt, finishedAt));
    }
  };
}

/** Counts attempts whose lease expired by outcome. Their duration is not known. */
export function countExpired(metrics: Metrics): OnExpired {
  return (retried, deadLettered) => {
    metrics.attempts.inc({ outcome: OUTCOME_OF.queued }, retried);
    metrics.attempts.inc({ outcome: OUTCOME_OF.failed }, deadLettered);
  };
}

/** Counts the comparisons of shadows by outcome. */
export function countCompared(metrics: Metrics): (shadow: string, outcome: ComparisonOutcome) => void {
  return (route, outcome) => metrics.shadowComparisons.inc({ route, outcome });
}

/** Never negative, even if the clock was set back. */
function secondsBetween(fromMs: number, toMs: number): number {
  return Math.max(0, toMs - fromMs) / 1000;
}

/** Wraps a login so that it counts logins by outcome. */
export function countLogins<Args extends unknown[], Answer>(
  login: (...args: Args) => Promise<Answer>,
  metrics: Metrics,
): (...args: Args) => Promise<Answer> {
  return async (...args) => {
    try {
      const answer = await login(...args);
      metrics.logins.inc({ outcome: "succeeded" });
      return answer;
    } catch (error) {
      metrics.logins.inc({ outcome: error instanceof AppError ? error.code : "internal_error" });
      throw error;
    }
  };
}

/** Counts what becomes of requests that proxies ask about, by the entry that decides. */
export function countAccess(metrics: Metrics): (outcome: Pick<AccessOutcome, "entry" | "decision">) => void {
  return ({ entry, decision }) => metrics.accessDecisions.inc({ entry: String(entry ?? "none"), decision });
}

/** Wraps a password verifier so that it counts the computed hashes. */
export function countHashes(verifyPassword: PasswordVerifier, metrics: Metrics): PasswordVerifier {
  return (...args) => {
    metrics.passwordHashes.inc();
    return verifyPassword(...args);
  };
}

/** Counts what retention removes. */
export function countPurged(metrics: Metrics): OnPurged {
  return ({ events, ids }, at) => {
    metrics.purgedEvents.inc(events);
    metrics.purgedIds.inc(ids);
    metrics.lastPurge.set(at / 1000);
  };
}
