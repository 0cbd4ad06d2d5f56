import { describeError } from "../errors.ts";
import type { HistoryEvent, SentBody } from "../events/store.ts";
import type { Route } from "./route.ts";
import { createExplanation, type OpenPayload, type RouteVerdict } from "./routing.ts";
import { type TransformTools, transformed } from "./transform/handler.ts";

/**
 * How the result for an event differs from what was sent. `taken`: the route had not taken it. `left`: it had taken it,
 * and would not. `body`: it would send another one. `failed`: its expression fails.
 */
type Change = "taken" | "left" | "body" | "failed";

/** What a route would do with an event. */
interface RouteTrial {
  verdict: RouteVerdict;
  /** What it would send; null if it sends nothing. */
  sends: SentBody | null;
  /** What its job has sent; null if it has none, or has made no attempt. */
  sent: SentBody | null;
  error: string | null;
  change: Change | null;
}

interface BackTestTools extends Pick<TransformTools, "transformer" | "jsonOf"> {
  openPayload: OpenPayload;
}

/** Prepares trials of routes on stored events. They have no effect. */
export function createBackTest(
  routes: readonly Route[],
  tools: BackTestTools,
): (event: HistoryEvent) => Promise<RouteTrial[]> {
  const explain = createExplanation(routes);
  const never = new AbortController().signal;

  async function tryRoute(event: HistoryEvent, verdict: RouteVerdict, route: Route): Promise<RouteTrial> {
    const job = event.jobs.find((one) => one.route === verdict.route);
    const sent = job && job.attempts > 0 ? (job.body ?? event) : null;
    const outcome = { verdict, sends: null, sent, error: null };
    if (verdict.unmet !== null) return { ...outcome, change: job ? "left" : null };
    try {
      const sends =
        route.transform === null
          ? event
          : await transformed({ ...event, route: route.name }, route.transform, tools, never);
      if (!job) return { ...outcome, sends, change: "taken" };
      return { ...outcome, sends, change: sent && !isSame(sent, sends) ? "body" : null };
    } catch (error) {
      return { ...outcome, error: describeError(error), change: "failed" };
    }
  }

  return (event) => {
    const verdicts = explain(event, tools.openPayload(event));
    return Promise.all(routes.map((route, index) => tryRoute(event, verdicts[index] as RouteVerdict, route)));
  };
}

function isSame(one: SentBody, other: SentBody): boolean {
  return one.contentType === other.contentType && Buffer.compare(one.payload, other.payload) === 0;
}

/** The counts and samples of trials on many events. */
export interface BackTest {
  /** Events that one of the routes takes. */
  matched: number;
  unmatched: number;
  /** Events for which a route differs from what was sent. */
  changed: number;
  routes: { route: string; matched: number; unmatched: number; changed: number; failed: number }[];
  samples: Sample[];
}

interface Sample extends RouteVerdict {
  source: string;
  eventId: string;
  type: string;
  change: Change | null;
  error: string | null;
  /** The beginnings of the bodies. */
  sends: BodySample | null;
  sent: BodySample | null;
}

interface BodySample {
  contentType: string;
  bytes: number;
  body: string;
}

const MAX_SAMPLES = 50;
const MAX_SAMPLES_OF_KIND = 3;
const MAX_BODY_LENGTH = 1000;

/** Counts trials, and keeps some of each kind: of a route with one change, or with one reason not to take an event. */
export function createTally(routes: readonly Pick<Route, "name">[]) {
  const counts = new Map(
    routes.map(({ name }) => [name, { route: name, matched: 0, unmatched: 0, changed: 0, failed: 0 }]),
  );
  const kinds = new Map<string, number>();
  const result: BackTest = { matched: 0, unmatched: 0, changed: 0, routes: [...counts.values()], samples: [] };

  function count({ verdict, change }: RouteTrial): void {
    const route = counts.get(verdict.route);
    if (!route) return;
    if (verdict.unmet === null) route.matched++;
    else route.unmatched++;
    if (change !== null) route.changed++;
    if (change === "failed") route.failed++;
  }

  function keepSample(event: HistoryEvent, trial: RouteTrial): void {
    const { verdict, change, error } = trial;
    const kind = JSON.stringify([verdict.route, change, verdict.unmet]);
    const known = kinds.get(kind) ?? 0;
    if (known >= MAX_SAMPLES_OF_KIND || result.samples.length >= MAX_SAMPLES) return;
    kinds.set(kind, known + 1);
    const { source, eventId, type } = event;
    const [sends, sent] = [sampleOf(trial.sends), sampleOf(trial.sent)];
    result.samples.push({ source, eventId, type, ...verdict, change, error, sends, sent });
  }

  return {
    result,
    add(event: HistoryEvent, trials: readonly RouteTrial[]): void {
      if (trials.some(({ verdict }) => verdict.unmet === null)) result.matched++;
      else result.unmatched++;
      if (trials.some(({ change }) => change !== null)) result.changed++;
      for (const trial of trials) {
        count(trial);
        keepSample(event, trial);
      }
    },
  };
}

function sampleOf(body: SentBody | null): BodySample | null {
  if (body === null) return null;
  const { contentType, payload } = body;
  const beginning = Buffer.from(payload.subarray(0, 4 * MAX_BODY_LENGTH)).toString();
  return { contentType, bytes: payload.length, body: beginning.slice(0, MAX_BODY_LENGTH).toWellFormed() };
}
