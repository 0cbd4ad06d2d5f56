import { isUnjudged } from "../events/job.ts";
import { type Handler, NotTakenError } from "./handler.ts";
import { NOT_JUDGED } from "./judging.ts";
import type { Route } from "./route.ts";
import { createExplanation, looksInside, type OpenPayload } from "./routing.ts";

/** Lets a handler run for a replayed event that could not be judged before, only if the route takes it. */
export function judgedAnew(handler: Handler, route: Route, openPayload: OpenPayload): Handler {
  if (!looksInside(route)) return handler;
  const explain = createExplanation([route]);
  return {
    ...handler,
    async prepare(job, signal) {
      const [verdict] = isUnjudged(job) ? explain(job, openPayload(job)) : [];
      if (verdict?.unmet === "time") throw new NotTakenError(NOT_JUDGED);
      if (verdict?.unmet) throw new NotTakenError(`the route does not take it: ${verdict.unmet} does not hold`);
      return handler.prepare ? handler.prepare(job, signal) : job;
    },
  };
}
