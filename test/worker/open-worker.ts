import type { TestContext } from "node:test";
import type { EventStore } from "../../src/events/store.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import type { EventHandler } from "../../src/worker/run.ts";
import { createWorker, type Worker, type WorkerOptions } from "../../src/worker/worker.ts";
import { tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";
import { recordingLog } from "../helpers/log.ts";

export const hang: EventHandler = () => new Promise(() => {});

type Changes = Partial<WorkerOptions>;

/** A worker on its own SQLite store, with quick retries; it stops with the test. `changes` may be a function of the store. */
export function openWorker(
  t: TestContext,
  handler: EventHandler,
  changes: Changes | ((events: EventStore) => Changes) = {},
) {
  // Declared first: callbacks run in order, and the worker must stop before its database is closed.
  let opened: Worker | undefined;
  t.after(() => opened?.stop(0));
  const events = localStores(tempDatabase(t).database).events;
  const recorded = recordingLog();
  const worker = createWorker({
    store: events,
    handler,
    policy: { attempts: 3, backoff: "exponential", delayMs: 40, maxDelayMs: 86_400_000, jitter: 0 },
    concurrency: 3,
    pollIntervalMs: 20,
    handlerTimeoutMs: 5000,
    owner: "worker",
    log: recorded.log,
    ...(typeof changes === "function" ? changes(events) : changes),
  });
  opened = worker;
  const append = (...ids: string[]) =>
    events.append(ids.map((eventId) => newEvent({ eventId, receivedAt: Date.now() })));
  const status = async (eventId: string) => (await events.get(eventId))[0]?.status;
  return { events, worker, append, status, ...recorded };
}
