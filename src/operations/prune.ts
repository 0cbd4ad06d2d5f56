import * as v from "valibot";
import { purgePages } from "../events/pages.ts";
import { count, cursor, purgeCursor } from "./fields.ts";
import { change } from "./operation.ts";

// Events, and ids, that one transaction removes.
const LIMIT = 500;

export const prune = change({
  path: "events/prune",
  scope: "events:write",
  summary:
    "Removes what the retention of the configuration file does not keep, as the server does by itself from time to time. `dryRun` only counts it. If `cursor` is not null, send the request again with it, to go on.",
  input: v.object({
    dryRun: v.optional(v.boolean()),
    cursor: v.optional(v.pipe(purgeCursor, v.description("That of the answer before."))),
  }),
  output: v.object({
    events: count,
    ids: count,
    bytes: v.pipe(count, v.description("Those of payloads and headers.")),
    cursor,
  }),
  audited: {
    action: "events.prune",
    asked: ({ dryRun }) => (dryRun ? null : {}),
    outcome: ({ events, ids }) => (events + ids === 0 ? null : { events, ids }),
  },
  async run({ stores: { events, now }, retention, pace }, { dryRun: isDryRun = false, cursor }) {
    const kept = await retention();
    const at = now();
    const purge = (from: string | undefined) =>
      events.purge({ retention: kept, now: at, limit: LIMIT, cursor: from, isDryRun });
    return purgePages(purge, pace(), cursor);
  },
});
