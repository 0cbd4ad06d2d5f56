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
export type ReadyParts = Record<string, () => Promise<void>>;

/** Answers 200 when every check succeeds, else 503 with the failed ones. A check fails if it throws or takes too long. */
export function readyRoute(parts: ReadyParts, instance: string, log: Log): Handler {
  /** Running checks. Requests share them, so that checks of a store that hangs do not pile up. */
  const running = new Map<string, Promise<void>>();

  function checkOnce(name: string, check: () => Promise<void>): Promise<void> {
    const result = running.get(name) ?? check().finally(() => running.delete(name));
    running.set(name, result);
    return result;
  }

  return async ({ requestId }): Promise<Reply> => {
    const checked = await Promise.all(
      Object.entries(parts).map(async ([name, check]) => {
        try {
          await timeout(MAX_CHECK_MS, checkOnce(name, check), () => new Error(`no answer within ${MAX_CHECK_MS} ms`));
          return [name, "ok"];
        } catch (error) {
          log.warn({ event: "not_ready", requestId, part: name, error: describeError(error) }, "not ready");
          return [name, "unavailable"];
        }
      }),
    );
    const ready = checked.every(([, state]) => state === "ok");
    const body = { status: ready ? "ready" : "unavailable", parts: Object.fromEntries(checked), instance };
    return ready ? reply(200, body) : { status: 503, body, headers: { "Retry-After": "2" } };
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
