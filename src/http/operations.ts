import * as v from "valibot";
import { describeError } from "../errors.ts";
import { timeout } from "../lib/timeout.ts";
import type { Log } from "../log.ts";
import type { Exposition } from "../metrics.ts";
import { type ClientAccess, requireAllowedClient } from "./client-address.ts";
import type { Reply } from "./problem.ts";
import { type Handler, type Route, reply } from "./route.ts";

export const HealthAnswer = v.object({ status: v.literal("ok") });

export const ReadyAnswer = v.object({
  status: v.picklist(["ready", "unavailable"]),
  parts: v.record(v.string(), v.picklist(["ok", "unavailable"])),
  /** Differs at each start of the server. */
  instance: v.string(),
});

/** The instance id in the body of a `/readyz` response; null if the body is not one. */
export function instanceOfAnswer(text: string): string | null {
  try {
    return v.parse(ReadyAnswer, JSON.parse(text)).instance;
  } catch {
    return null;
  }
}

export const MetricsAnswer = v.string();
export const OpenApiAnswer = v.record(v.string(), v.unknown());

/** Answers 200 while the process is running. */
export const healthRoute: Handler = () => reply(200, { status: "ok" });

// Probes give up after one to five seconds by default.
const MAX_CHECK_MS = 3000;

/** The checks that must succeed, by name. */
type ReadyParts = Record<string, () => Promise<void>>;

/** A part, and why it is not ready; null if it is. */
interface PartState {
  name: string;
  error: string | null;
}

export type Readiness = () => Promise<PartState[]>;

/** Makes all checks. A part is not ready if its check throws or takes too long. */
export function createReadiness(parts: ReadyParts): Readiness {
  /** Running checks. Those who ask share them, so that checks of a store that hangs do not pile up. */
  const running = new Map<string, Promise<void>>();

  function checkOnce(name: string, check: () => Promise<void>): Promise<void> {
    const result = running.get(name) ?? check().finally(() => running.delete(name));
    running.set(name, result);
    return result;
  }

  async function stateOf([name, check]: [string, () => Promise<void>]): Promise<PartState> {
    try {
      await timeout(MAX_CHECK_MS, checkOnce(name, check), () => new Error(`no answer within ${MAX_CHECK_MS} ms`));
      return { name, error: null };
    } catch (error) {
      return { name, error: describeError(error) };
    }
  }

  return () => Promise.all(Object.entries(parts).map(stateOf));
}

/** Answers 200 when every part is ready, else 503 with those that are not. */
export function readyRoute(readiness: Readiness, instance: string, log: Log): Handler {
  return async ({ requestId }): Promise<Reply> => {
    const states = await readiness();
    for (const { name, error } of states)
      if (error !== null) log.warn({ event: "not_ready", requestId, part: name, error }, "not ready");
    const parts = Object.fromEntries(states.map(({ name, error }) => [name, error === null ? "ok" : "unavailable"]));
    const isReady = states.every(({ error }) => error === null);
    const body = { status: isReady ? "ready" : "unavailable", parts, instance };
    return isReady ? reply(200, body) : { status: 503, body, headers: { "Retry-After": "2" } };
  };
}

/** Returns the metrics to allowed addresses. All others get 404. */
export function metricsRoute(render: () => Promise<Exposition>, access: ClientAccess): Handler {
  return async ({ request, address }) => {
    requireAllowedClient(request, address, access);
    const { text, contentType } = await render();
    return { status: 200, body: text, headers: { "Content-Type": contentType } };
  };
}

/** Describes routes as OpenAPI 3.1. The description is made at the first request, because few servers are asked. */
export function openApiRoute(routes: readonly Route[], version: string): Handler {
  let description: Promise<object> | undefined;
  return async () => {
    description ??= import("./openapi.ts").then(({ openApiOf }) => openApiOf(routes, version));
    return reply(200, await description);
  };
}
