import { DEFAULT_ROUTE } from "../../src/events/job.ts";
import type { EventHandler, Handler } from "../../src/worker/handler.ts";
import type { Route } from "../../src/worker/route.ts";

/** A route that takes every event, with quick retries, and some members set by the test. */
export function route(changes: Partial<Route> = {}): Route {
  return {
    name: DEFAULT_ROUTE,
    sources: null,
    types: [],
    when: [],
    transform: null,
    delayMs: 0,
    orderBy: null,
    whenStuck: "block",
    handler: { kind: "log" },
    timeoutMs: 5000,
    retry: { attempts: 3, backoff: "exponential", delayMs: 40, maxDelayMs: 86_400_000, jitter: 0 },
    concurrency: 3,
    ratePerSecond: null,
    ...changes,
  };
}

/** A handler that runs a function. */
export function handlerOf(run: EventHandler, changes: Partial<Handler> = {}): Handler {
  return { run, target: "http://target.test", endsWithSignal: false, close: async () => {}, ...changes };
}
