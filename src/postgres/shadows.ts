import {
  type ComparisonOutcome,
  comparisonCounts,
  type DifferenceRow,
  MAX_DIFFERENCES,
  summedComparisons,
} from "../events/shadow.ts";
import type { EventStore } from "../events/store.ts";
import type { PayloadCodec } from "../storage/payload-codec.ts";
import { differenceCodec } from "../storage/sealed-differences.ts";
import type { Postgres } from "./connection.ts";
import { columnsOf, integers, texts } from "./values.ts";

/** Adds to the counts: routes, outcomes, counts. */
const ADD_COUNTS = `
INSERT INTO authserve.shadow_counts AS known (route, outcome, count)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT (route, outcome) DO UPDATE SET count = known.count + excluded.count`;

/** Keeps a difference of an event that is stored: event, route, time, difference. The newest one counts. */
const KEEP = `
INSERT INTO authserve.shadow_differences (event, route, at, difference)
SELECT event, $2, $3, $4 FROM authserve.contents
WHERE event = $1 AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = $1)
ON CONFLICT (event, route) DO UPDATE SET at = excluded.at, difference = excluded.difference`;

/** The kept differences of comparisons: events, routes. */
const KEPT = `
SELECT event, route, difference FROM authserve.shadow_differences
WHERE (event, route) IN (SELECT * FROM unnest($1::bigint[], $2::text[])) ORDER BY event, route FOR UPDATE`;

/** Forgets differences: events, routes. */
const FORGET = `
DELETE FROM authserve.shadow_differences WHERE (event, route) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))`;

/** Removes all differences but those of the newest events: route. */
const TRIM = `
DELETE FROM authserve.shadow_differences WHERE route = $1 AND event < (
  SELECT event FROM authserve.shadow_differences WHERE route = $1 ORDER BY event DESC LIMIT 1 OFFSET ${MAX_DIFFERENCES - 1})`;

const COUNTS = `SELECT outcome, count FROM authserve.shadow_counts WHERE route = $1`;

const DIFFERENCES = `
SELECT event, source, event_id AS "eventId", type, at, difference
FROM authserve.shadow_differences JOIN authserve.events ON events.id = event WHERE route = $1 ORDER BY event DESC`;

const RESET_COUNTS = "DELETE FROM authserve.shadow_counts WHERE route = $1";
const RESET_DIFFERENCES = "DELETE FROM authserve.shadow_differences WHERE route = $1";

type ShadowPort = Pick<EventStore, "addComparisons" | "comparisons" | "differences" | "resetComparisons">;

/** The comparisons of shadow routes. */
export function shadowComparisons(postgres: Postgres, codec: PayloadCodec): ShadowPort {
  const { sealed, opened, outcomeOf } = differenceCodec(codec);
  return {
    addComparisons: (batch) =>
      postgres.transaction(async (queries) => {
        const named = columnsOf(batch, { event: integers, route: texts });
        const kept = await queries.rows<{ event: number; route: string; difference: string }>(KEPT, named);
        const earlier = kept.map(({ difference, ...one }) => ({
          ...one,
          outcome: outcomeOf(one.route, one.event, difference),
        }));
        const sums = summedComparisons(batch, earlier);
        const columns = columnsOf(sums, { route: texts, outcome: texts, count: integers });
        await queries.run(ADD_COUNTS, columns);
        await queries.run(FORGET, named);
        for (const { event, route, at, difference } of batch)
          if (difference) await queries.run(KEEP, [event, route, at, sealed(event, route, difference)]);
        for (const route of new Set(batch.map((one) => one.route))) await queries.run(TRIM, [route]);
      }),
    comparisons: async (route) =>
      comparisonCounts(await postgres.rows<{ outcome: ComparisonOutcome; count: number }>(COUNTS, [route])),
    differences: async (route) =>
      (await postgres.rows<DifferenceRow>(DIFFERENCES, [route])).map((row) => opened(route, row)),
    resetComparisons: (route) =>
      postgres.transaction(async (queries) => {
        void queries.run(RESET_DIFFERENCES, [route]);
        return (await queries.run(RESET_COUNTS, [route])) > 0;
      }),
  };
}
