import type { Login } from "./auth/login.ts";
import { AppError } from "./errors.ts";
import type { Appended, EventStore, NewEvent } from "./events/store.ts";
import type { IntakeMetrics, Metrics } from "./metrics.ts";

const OUTCOMES = { processed: "processed", queued: "retried", failed: "dead_lettered" };

/** Appends a batch and counts what became of it. */
export async function appendCounted(
  events: Pick<EventStore, "append">,
  metrics: IntakeMetrics,
  batch: NewEvent[],
): Promise<Appended[]> {
  const committed = metrics.commitSeconds.startTimer();
  const results = await events.append(batch);
  committed();
  metrics.batchEvents.observe(batch.length);
  const duplicates = results.filter(({ duplicate }) => duplicate).length;
  const conflicts = results.filter(({ conflict }) => conflict).length;
  metrics.deliveries.inc({ result: "new" }, results.length - duplicates);
  metrics.deliveries.inc({ result: "duplicate" }, duplicates - conflicts);
  metrics.deliveries.inc({ result: "conflict" }, conflicts);
  return results;
}

/** The store, counting where attempts leave their events. */
export function countingSettles(events: EventStore, metrics: Metrics): EventStore {
  return {
    ...events,
    async settle(batch) {
      const settled = await events.settle(batch);
      for (const [index, { next }] of batch.entries()) {
        metrics.attempts.inc({ outcome: settled[index] ? OUTCOMES[next.to] : "lease_lost" });
      }
      return settled;
    },
  };
}

/** The login, counting its answers. */
export function countingLogins(login: Login, metrics: Metrics): Login {
  return async (credentials, requester) => {
    try {
      const answer = await login(credentials, requester);
      metrics.logins.inc({ outcome: "succeeded" });
      return answer;
    } catch (error) {
      metrics.logins.inc({ outcome: error instanceof AppError ? error.code : "internal_error" });
      throw error;
    }
  };
}
