import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError, describeError } from "../errors.ts";
import { timeout } from "../lib/timeout.ts";
import type { Log } from "../log.ts";
import type { Exposition } from "../metrics.ts";
import { isForwardedByStranger, isIn } from "./client-address.ts";
import type { Reply } from "./problem.ts";
import { type Handler, reply } from "./route.ts";

export const HealthAnswer = v.object({ status: v.literal("ok") });

export const ReadyAnswer = v.object({
  status: v.picklist(["ready", "unavailable"]),
  parts: v.record(v.string(), v.picklist(["ok", "unavailable"])),
  /** Differs at each start of the server. */
  instance: v.string(),
});

/** The instance that the text of an answer of `/readyz` names; null of a text that is none. */
export function instanceOfAnswer(text: string): string | null {
  try {
    return v.parse(ReadyAnswer, JSON.parse(text)).instance;
  } catch {
    return null;
  }
}

export const MetricsAnswer = v.string();

/** Answers 200 while the process serves. */
export const healthRoute: Handler = () => reply(200, { status: "ok" });

// Probes give up after one to five seconds by default.
const MAX_CHECK_MS = 3000;

/** The parts that must answer, by name. */
export type ReadyParts = Record<string, () => Promise<void>>;

/** Answers 200 when every part does, else 503 naming those that do not. A part fails by throwing, or by taking too long. */
export function readyRoute(parts: ReadyParts, instance: string, log: Log): Handler {
  /** Checks that have no answer yet: whoever asks meanwhile shares it, or those who ask a store that hangs would pile up. */
  const underWay = new Map<string, Promise<void>>();

  function checkOnce(name: string, check: () => Promise<void>): Promise<void> {
    const running = underWay.get(name) ?? check().finally(() => underWay.delete(name));
    underWay.set(name, running);
    return running;
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

export interface MetricsAccess {
  allowedAddresses: BlockList;
  /** What another proxy passes on may be anybody's. */
  trustedProxies: BlockList | undefined;
}

/** Shows the metrics to the addresses that may see them; to any other there is nothing at this path. */
export function metricsRoute(render: () => Promise<Exposition>, access: MetricsAccess): Handler {
  return async ({ request, address }) => {
    if (!isIn(access.allowedAddresses, address) || isForwardedByStranger(request, access.trustedProxies))
      throw new AppError("not_found");
    const { text, contentType } = await render();
    return { status: 200, body: text, headers: { "Content-Type": contentType } };
  };
}
