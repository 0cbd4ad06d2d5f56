import type { ClaimedJob } from "../../events/job.ts";
import type { EventStore } from "../../events/store.ts";
import type { Handler } from "../handler.ts";
import type { TransformOutput } from "./expression.ts";
import type { Transformer } from "./transformer.ts";

/** What transformations are made with. */
export interface TransformTools {
  store: Pick<EventStore, "sentBody" | "keepSentBody">;
  transformer: Transformer;
  /** The content of an event as text of JSON; null if it cannot be read. */
  jsonOf: (event: Pick<ClaimedJob, "payload" | "contentType">) => string | null;
}

/**
 * Lets a handler get the result of an expression instead of the payload. It is stored before the first attempt that
 * sends it, so that every attempt and replay sends the same bytes.
 */
export function withTransform(handler: Handler, expression: string, tools: TransformTools): Handler {
  const { store } = tools;

  async function bodyOf(job: ClaimedJob, signal: AbortSignal): Promise<TransformOutput> {
    const { event, route } = job;
    const stored = await store.sentBody({ event, route });
    if (stored) return stored;
    const made = await transformed(job, expression, tools, signal);
    return store.keepSentBody({ event, route }, made);
  }

  return {
    ...handler,
    prepare: async (job, signal) => ({ ...job, ...(await bodyOf(job, signal)) }),
  };
}

/** What an expression makes of an event. */
export async function transformed(
  event: Pick<
    ClaimedJob,
    "payload" | "contentType" | "eventId" | "type" | "source" | "receivedAt" | "headers" | "route"
  >,
  expression: string,
  { transformer, jsonOf }: Pick<TransformTools, "transformer" | "jsonOf">,
  signal: AbortSignal,
): Promise<TransformOutput> {
  const { eventId: id, type, source, route } = event;
  const receivedAt = new Date(event.receivedAt).toISOString();
  const headers = JSON.parse(event.headers) as Record<string, string>;
  const input = { json: jsonOf(event), event: { id, type, source, receivedAt, headers } };
  return transformer.run({ expression, ...input }, route, signal);
}
