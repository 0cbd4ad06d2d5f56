import * as v from "valibot";
import { fieldError } from "../errors.ts";
import { payloadJson } from "../events/json.ts";
import {
  beginListening,
  countWaiting,
  type HeardEvent,
  hear,
  LISTEN_CURSOR,
  type ListenFilter,
} from "../events/listening.ts";
import { typeList } from "../events/type-list.ts";
import type { Endpoint, RequestContext } from "../http/endpoint.ts";
import { readQuery } from "../http/fields.ts";
import { isoTime } from "../lib/iso-time.ts";
import { openStored } from "../webhook/content/stored-content.ts";
import { isTaken } from "../worker/routing.ts";
import { type AdminGuard, guardedGet } from "./endpoint.ts";
import { text, time } from "./fields.ts";
import type { ServerContext } from "./operation.ts";

/** How long a request is held while no event comes: proxies often give up after 30 or 60 s. */
const HOLD_MS = 25_000;
/** A token that is revoked, or a session that ends, ends the request within this time. */
const AUTHORIZE_EVERY_MS = 5000;
const SCOPE = "listen";
const MOST = 100;

const wholeNumber = (most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^[1-9][0-9]{0,6}$/, "must be a whole number above 0"),
    v.transform(Number),
    v.number(),
    v.maxValue(most, `must be at most ${most}`),
  );

const ListenQuery = v.object({
  after: v.optional(
    v.pipe(
      v.string(),
      v.regex(LISTEN_CURSOR, "is not a cursor of this request"),
      v.description("The cursor of an answer before. Without it, the answer has only the cursor to begin with."),
    ),
  ),
  since: v.optional(v.pipe(time, v.description("Without `after`: begin with the events received since this time."))),
  source: v.optional(text),
  type: v.optional(
    v.pipe(text, v.description("Only events of these types: a list with commas. `*` is any text, and `!` leaves out.")),
  ),
  route: v.optional(v.pipe(text, v.description("Only events that this route takes, by the present configuration."))),
  limit: v.optional(wholeNumber(MOST), String(MOST)),
  count: v.optional(
    v.pipe(wholeNumber(1_000_000), v.description("Only count the events that wait, until they are more than this.")),
  ),
});

type Query = v.InferOutput<typeof ListenQuery>;

/** An event as a line of JSON. Its payload is null if the store cannot read it. */
function lineOf({ cursor, source, eventId, type, receivedAt, content }: HeardEvent): string {
  const head = { cursor, source, eventId, type, receivedAt: isoTime(receivedAt) };
  if (content === null) return JSON.stringify({ ...head, contentType: "", headers: {}, payload: null });
  const { contentType, headers, payload } = content;
  return JSON.stringify({ ...head, contentType, headers: JSON.parse(headers), ...payloadJson(payload) });
}

const answer = (...lines: string[]) => ({
  status: 200,
  body: lines.map((line) => `${line}\n`).join(""),
  headers: { "Content-Type": "application/x-ndjson" },
});

/** Runs something with a signal that is aborted when the client has gone. */
async function whileConnected<T>({ request }: RequestContext, run: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  request.socket.once("close", abort);
  try {
    return await run(gone.signal);
  } finally {
    request.socket.off("close", abort);
  }
}

type ListenContext = Pick<ServerContext, "stores" | "routes" | "arrivals">;

async function filterOf({ routes }: ListenContext, { source, type, route }: Query): Promise<ListenFilter> {
  const arrival = { source, takesType: type === undefined ? undefined : typeList(type) };
  if (route === undefined) return arrival;
  const chosen = (await routes()).filter(({ name }) => name === route);
  if (chosen.length === 0) throw fieldError("route", "is not configured");
  return { ...arrival, takes: (event) => isTaken(chosen, event, openStored(event)) };
}

/** Waits for events behind a cursor, for as long as the request may be held. `authorize` may end that before. */
async function listen(
  { stores: { events }, arrivals }: ListenContext,
  { after, filter, limit }: { after: string; filter: ListenFilter; limit: number },
  { authorize, gone }: { authorize: () => Promise<unknown>; gone: AbortSignal },
) {
  const endsAt = performance.now() + HOLD_MS;
  let cursor = after;
  let isReset = false;
  for (;;) {
    const heard = await hear(events, cursor, filter, limit);
    isReset ||= heard.isReset;
    const leftMs = endsAt - performance.now();
    if (heard.events.length > 0 || leftMs <= 0 || gone.aborted || arrivals.isStopped()) {
      return answer(...heard.events.map(lineOf), JSON.stringify({ cursor: heard.cursor, reset: isReset }));
    }
    if (heard.cursor !== cursor) {
      cursor = heard.cursor;
      continue;
    }
    cursor = await arrivals.wait(cursor, filter, Math.min(leftMs, AUTHORIZE_EVERY_MS), gone);
    await authorize();
  }
}

/** The stored events as they arrive, for programs. */
export function listenEndpoint(guard: AdminGuard, server: ListenContext): Endpoint {
  return guardedGet(guard, {
    path: "/admin/api/listen",
    scope: SCOPE,
    summary:
      "Answers with the events stored behind the cursor `after`, oldest first, as soon as there is one; after 25 s without one with none. Each line of the answer is a JSON object: those of events have `cursor`, `source`, `eventId`, `type`, `receivedAt`, `contentType`, `headers`, `payload`, and `payloadBase64` if that is not UTF-8. The last line has the `cursor` of the next request; its `reset` is true if the store has lost events, such as after the restore of a backup. Events may be limited by `source`, `type` and `route`. Listening changes nothing.",
    query: ListenQuery,
    response: v.string(),
    mediaTypes: { 200: "application/x-ndjson" },
    async handler(context) {
      const { events, now } = server.stores;
      const query = readQuery(context.request, ListenQuery);
      const filter = await filterOf(server, query);
      const after = query.after ?? (await beginListening(events, query.since ?? null, now()));
      if (query.count !== undefined) {
        const waiting = await countWaiting(events, after, filter, query.count);
        return answer(JSON.stringify({ cursor: after, reset: false, waiting }));
      }
      if (query.after === undefined) return answer(JSON.stringify({ cursor: after, reset: false }));
      const { limit } = query;
      const authorize = () => guard.authorize(context, SCOPE);
      return whileConnected(context, (gone) => listen(server, { after, filter, limit }, { authorize, gone }));
    },
  });
}
