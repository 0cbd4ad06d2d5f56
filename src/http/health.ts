import type { BlockList } from "node:net";
import * as v from "valibot";
import { describeError } from "../errors.ts";
import { timeout } from "../lib/timeout.ts";
import type { Log } from "../log.ts";
import type { Exposition } from "../metrics.ts";
import { type Endpoint, type RequestContext, reply } from "./endpoint.ts";
import { requireAllowedClient } from "./proxies.ts";

const ReadyAnswer = v.object({
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

export interface HealthParts {
  readiness: Readiness;
  /** The id of this start of the server. */
  instance: string;
  log: Log;
}

/** What load balancers and supervisors ask. */
export function healthEndpoints({ readiness, instance, log }: HealthParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      audience: "senders",
      summary: "Answers 200 while the process is running.",
      response: v.object({ status: v.literal("ok") }),
      quiet: true,
      handler: () => reply(200, { status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      audience: "senders",
      summary:
        "Answers 200 when all stores are available and deliveries are not paused, else 503 with the unavailable parts. `instance` differs at each start of the server.",
      response: ReadyAnswer,
      statuses: [200, 503],
      quiet: true,
      async handler({ requestId }) {
        const states = await readiness();
        for (const { name, error } of states)
          if (error !== null) log.warn({ event: "not_ready", requestId, part: name, error }, "not ready");
        const parts = Object.fromEntries(
          states.map(({ name, error }) => [name, error === null ? "ok" : "unavailable"]),
        );
        const isReady = states.every(({ error }) => error === null);
        const body = { status: isReady ? "ready" : "unavailable", parts, instance };
        return isReady ? reply(200, body) : { status: 503, body, headers: { "Retry-After": "2" } };
      },
    },
  ];
}

const METRICS_SCOPE = "metrics";

export interface MetricsParts {
  metrics: { render(): Promise<Exposition> };
  metricsAllowedAddresses: BlockList;
  /** Whether a request has a token with a scope. Throws if it has a wrong one. Without one it is false. */
  hasScope: (context: RequestContext, scope: string) => Promise<boolean>;
  trustedProxies: BlockList | undefined;
}

/** The metrics for allowed addresses, and for tokens with the scope. */
export function metricsEndpoint({
  metrics,
  metricsAllowedAddresses: allowedAddresses,
  hasScope,
  trustedProxies,
}: MetricsParts): Endpoint {
  return {
    method: "GET",
    path: "/metrics",
    audience: "monitoring",
    summary:
      "Shows the metrics in the text format of Prometheus, to `METRICS_ALLOWED_ADDRESSES`, and to tokens with the scope `metrics`. Others get 404.",
    scope: METRICS_SCOPE,
    response: v.string(),
    problems: [
      "not_found",
      "invalid_token",
      "insufficient_scope",
      "owner_only",
      "too_many_wrong_tokens",
      "store_unavailable",
    ],
    quiet: true,
    async handler(context) {
      const { request, address } = context;
      if (!(await hasScope(context, METRICS_SCOPE)))
        requireAllowedClient(request, address, { allowedAddresses, trustedProxies });
      const { text, contentType } = await metrics.render();
      return { status: 200, body: text, headers: { "Content-Type": contentType } };
    },
  };
}

/** The description of endpoints. It is made at the first request, because few servers are asked. */
export function openApiEndpoint(endpoints: readonly Endpoint[], version: string): Endpoint {
  let description: Promise<object> | undefined;
  return {
    method: "GET",
    path: "/openapi.json",
    summary: "Describes all endpoints as OpenAPI 3.1.",
    response: v.record(v.string(), v.unknown()),
    quiet: true,
    async handler() {
      description ??= import("./openapi.ts").then(({ openApiOf }) => openApiOf(endpoints, version));
      return reply(200, await description);
    },
  };
}
