import * as v from "valibot";
import { AppError } from "../errors.ts";
import type { EventStore } from "../events/store.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type AdminGuard, changeEndpoint, queryEndpoint, readEndpoint } from "./endpoint.ts";
import { count, cursor, text, timestamp } from "./fields.ts";
import { ifChanged } from "./operation.ts";

export interface ShadowParts extends AdminGuard {
  events: Pick<EventStore, "comparisons" | "differences" | "resetComparisons">;
  /** The shadows of the configuration. */
  listShadows: () => { name: string; of: string; ignore: string[]; target: string }[];
}

export const ShadowsAnswer = v.object({
  items: v.array(
    v.object({
      name: v.string(),
      of: v.pipe(v.string(), v.description("The route that it shadows.")),
      ignore: v.array(v.string()),
      target: v.string(),
      same: count,
      different: count,
      failed: v.pipe(count, v.description("Events that the shadow has not answered.")),
      skipped: v.pipe(count, v.description("Events with answers that were not compared.")),
    }),
  ),
  cursor,
});

export const DifferencesAnswer = v.object({
  items: v.array(
    v.object({
      source: v.string(),
      eventId: v.string(),
      type: v.string(),
      at: timestamp,
      place: v.pipe(
        v.string(),
        v.description("`status`, `body`, `body` and a path, or `answer` if the shadow has not answered."),
      ),
      expected: v.pipe(v.string(), v.description("The beginning of what the route got.")),
      found: v.pipe(v.string(), v.description("The beginning of what the shadow got, or why it has no answer.")),
    }),
  ),
  cursor,
});

const ShadowQuery = v.object({ name: text });
const ResetAnswer = v.object({ changed: v.boolean() });

/** The shadows, and how their answers compare with those of their routes. */
export function shadowEndpoints(parts: ShadowParts): Endpoint[] {
  const { events, listShadows } = parts;

  function requireShadow(name: string): void {
    if (!listShadows().some((shadow) => shadow.name === name)) throw new AppError("not_found");
  }

  return [
    readEndpoint(parts, {
      path: "/admin/api/shadows",
      scope: "events:read",
      summary: "Lists the shadows of routes, with the numbers of their comparisons.",
      response: ShadowsAnswer,
      async read() {
        const items = listShadows().map(async (shadow) => ({ ...shadow, ...(await events.comparisons(shadow.name)) }));
        return { items: await Promise.all(items), cursor: null };
      },
    }),
    queryEndpoint(parts, {
      path: "/admin/api/shadows/differences",
      scope: "events:read",
      summary: "Lists where the answers of the shadow of `?name=` differ, for at most the 100 newest such events.",
      query: ShadowQuery,
      response: DifferencesAnswer,
      async read({ name }) {
        requireShadow(name);
        const items = (await events.differences(name)).map(({ at, ...difference }) => ({
          ...difference,
          at: isoTime(at),
        }));
        return { items, cursor: null };
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/shadows/reset",
      scope: "events:write",
      summary: "Forgets the comparisons of a shadow, and counts anew.",
      request: ShadowQuery,
      response: ResetAnswer,
      audited: { action: "shadow.reset", asked: ({ name }) => ({ route: name }), outcome: ifChanged },
      async change({ name }) {
        requireShadow(name);
        return { changed: await events.resetComparisons(name) };
      },
    }),
  ];
}
