import { describeError } from "../errors.ts";
import type { Log } from "../log.ts";
import { within } from "../within.ts";
import { type Handler, reply } from "./exchange.ts";
import type { Reply } from "./problem.ts";

/** Answers 200 while the process serves. */
export const healthRoute: Handler = () => reply(200, { status: "ok" });

// Probes give up after one to five seconds by default.
const MAX_CHECK_MS = 3000;

/** Answers 200 when every part does, else 503 naming those that do not. A part fails by throwing, or by taking too long. */
export function readyRoute(parts: Record<string, () => Promise<void>>, log: Log): Handler {
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
          await within(MAX_CHECK_MS, checkOnce(name, check), () => new Error(`no answer within ${MAX_CHECK_MS} ms`));
          return [name, "ok"];
        } catch (error) {
          log.warn({ event: "not_ready", requestId, part: name, error: describeError(error) }, "not ready");
          return [name, "unavailable"];
        }
      }),
    );
    const ready = checked.every(([, state]) => state === "ok");
    const body = { status: ready ? "ready" : "unavailable", parts: Object.fromEntries(checked) };
    return ready ? reply(200, body) : { status: 503, body, headers: { "Retry-After": "2" } };
  };
}
