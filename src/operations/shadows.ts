import * as v from "valibot";
import { AppError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { count, cursor, text, timestamp } from "./fields.ts";
import { change, ifChanged, type OperationContext, reading } from "./operation.ts";

const ShadowsAnswer = v.object({
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

const DifferencesAnswer = v.object({
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

const NAMED = v.object({ name: text });

async function requireShadow({ shadows }: OperationContext, name: string): Promise<void> {
  if (!(await shadows()).some((shadow) => shadow.name === name)) throw new AppError("not_found");
}

export const listed = reading({
  path: "shadows",
  scope: "events:read",
  summary: "Lists the shadows of routes, with the numbers of their comparisons.",
  input: v.object({}),
  output: ShadowsAnswer,
  async run({ stores: { events }, shadows }) {
    const items = (await shadows()).map(async ({ name, of, ignore, handler }) => ({
      ...{ name, of, ignore: [...ignore], target: handler.url },
      ...(await events.comparisons(name)),
    }));
    return { items: await Promise.all(items), cursor: null };
  },
});

export const differences = reading({
  path: "shadows/differences",
  scope: "events:read",
  summary: "Lists where the answers of the shadow of `?name=` differ, for at most the 100 newest such events.",
  input: NAMED,
  output: DifferencesAnswer,
  async run(context, { name }) {
    await requireShadow(context, name);
    const found = await context.stores.events.differences(name);
    return { items: found.map((difference) => ({ ...difference, at: isoTime(difference.at) })), cursor: null };
  },
});

export const reset = change({
  path: "shadows/reset",
  scope: "events:write",
  summary: "Forgets the comparisons of a shadow, and counts anew.",
  input: NAMED,
  output: v.object({ changed: v.boolean() }),
  audited: { action: "shadow.reset", asked: ({ name }) => ({ route: name }), outcome: ifChanged },
  async run(context, { name }) {
    await requireShadow(context, name);
    return { changed: await context.stores.events.resetComparisons(name) };
  },
});
