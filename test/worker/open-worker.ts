import type { TestContext } from "node:test";
import type { EventStore } from "../../src/events/store.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { openStored } from "../../src/webhook/content/stored-content.ts";
import type { EventHandler } from "../../src/worker/handler.ts";
import type { Route } from "../../src/worker/route.ts";
import { createWorker, type Worker, type WorkerOptions } from "../../src/worker/worker.ts";
import { tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";
import { recordingLog } from "../helpers/log.ts";
import { handlerOf, route } from "../helpers/route.ts";

export const hang: EventHandler = () => new Promise(() => {});

type Changes = Partial<WorkerOptions> & Partial<Pick<Route, "retry" | "concurrency" | "timeoutMs">>;

/**
 * A worker with one route on its own SQLite store, with quick retries; it stops with the test. `changes` may be a
 * function of the store.
 */
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
  t.after(() => {
    if (!t.passed) for (const line of recorded.lines) t.diagnostic(JSON.stringify(line));
  });
  const { retry, concurrency, timeoutMs, ...others } = typeof changes === "function" ? changes(events) : changes;
  const worker = createWorker({
    store: events,
    openPayload: openStored,
    pollIntervalMs: 20,
    owner: "worker",
    log: recorded.log,
    ...others,
  });
  const changed = { ...(retry && { retry }), ...(concurrency && { concurrency }), ...(timeoutMs && { timeoutMs }) };
  worker.applyRoutes([route(changed)], () => handlerOf(handler));
  opened = worker;
  const append = (...ids: string[]) =>
    events.append(ids.map((eventId) => newEvent({ eventId, receivedAt: Date.now() })));
  const status = async (eventId: string) => (await events.get(eventId))[0]?.status;
  return { events, worker, append, status, ...recorded };
}
