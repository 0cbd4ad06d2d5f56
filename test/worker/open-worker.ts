import type { TestContext } from "node:test";
import { createSqliteEventStore } from "../../src/events/sqlite/store.ts";
import type { EventHandler } from "../../src/worker/run-event.ts";
import { createWorker, type WorkerOptions } from "../../src/worker/worker.ts";
import { tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";
import { recordingLog } from "../helpers/log.ts";

export const hang: EventHandler = () => new Promise(() => {});

/** A worker on a real store of its own, with quick retries. */
export function openWorker(t: TestContext, handler: EventHandler, changes: Partial<WorkerOptions> = {}) {
  const events = createSqliteEventStore(tempDatabase(t).database);
  const recorded = recordingLog();
  const worker = createWorker({
    store: events,
    handler,
    policy: { attempts: 3, backoff: "exponential", delayMs: 40, jitter: 0 },
    concurrency: 3,
    pollIntervalMs: 20,
    handlerTimeoutMs: 5000,
    owner: "worker",
    log: recorded.log,
    ...changes,
  });
  const stop = (deadlineMs = 0) => worker.stop(deadlineMs);
  const append = (...ids: string[]) =>
    events.append(ids.map((eventId) => newEvent({ eventId, receivedAt: Date.now() })));
  const status = async (eventId: string) => (await events.get(eventId))[0]?.status;
  return { events, worker, stop, append, status, ...recorded };
}
