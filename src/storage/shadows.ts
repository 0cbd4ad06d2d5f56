import {
  type ComparisonOutcome,
  comparisonCounts,
  type DifferenceRow,
  MAX_DIFFERENCES,
  summedComparisons,
} from "../events/shadow.ts";
import type { EventStore } from "../events/store.ts";
import type { PayloadCodec } from "./payload-codec.ts";
import { change, changed, changedEach, type QueryPort, rows } from "./query.ts";
import { differenceCodec } from "./sealed-differences.ts";

/** Adds to the counts: route, outcome, count. */
const ADD_COUNT = `
INSERT INTO authserve.shadow_counts AS known (route, outcome, count) VALUES ($1::text, $2::text, $3::bigint)
ON CONFLICT (route, outcome) DO UPDATE SET count = known.count + excluded.count`;

/** Keeps a difference of an event that is stored: event, route, time, difference. The newest one counts. */
const KEEP = `
INSERT INTO authserve.shadow_differences (event, route, at, difference)
SELECT event, $2, $3, $4 FROM authserve.contents
WHERE event = $1 AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = $1)
ON CONFLICT (event, route) DO UPDATE SET at = excluded.at, difference = excluded.difference`;

/** The kept differences of events: events. */
const KEPT = `
SELECT event, route, difference FROM authserve.shadow_differences WHERE event = ANY($1::bigint[])
ORDER BY event, route FOR UPDATE`;

const FORGET = "DELETE FROM authserve.shadow_differences WHERE event = $1 AND route = $2";

/** Removes all differences but those of the newest events: route. */
const TRIM = `
DELETE FROM authserve.shadow_differences WHERE route = $1 AND event < (
  SELECT event FROM authserve.shadow_differences WHERE route = $1
  ORDER BY event DESC LIMIT 1 OFFSET ${MAX_DIFFERENCES - 1})`;

const COUNTS = "SELECT outcome, count FROM authserve.shadow_counts WHERE route = $1";

const DIFFERENCES = `
SELECT event, source, event_id AS "eventId", type, at, difference
FROM authserve.shadow_differences JOIN authserve.events ON events.id = event WHERE route = $1 ORDER BY event DESC`;

export type ShadowPort = Pick<EventStore, "addComparisons" | "comparisons" | "differences" | "resetComparisons">;

/** Keeps the comparisons of shadow routes. */
export function shadowStore(codec: PayloadCodec): QueryPort<ShadowPort> {
  const { sealed, opened, outcomeOf } = differenceCodec(codec);
  return {
    *addComparisons(batch) {
      const events = batch.map(({ event }) => event);
      const kept = yield* rows<{ event: number; route: string; difference: string }>(KEPT, events);
      const earlier = kept.map(({ event, route, difference }) => ({
        event,
        route,
        outcome: outcomeOf(route, event, difference),
      }));
      const sums = summedComparisons(batch, earlier);
      yield* changedEach(
        ADD_COUNT,
        sums.map(({ route, outcome, count }) => [route, outcome, count]),
      );
      for (const { event, route, at, difference } of batch) {
        if (difference === null) yield* changed(FORGET, event, route);
        else yield* changed(KEEP, event, route, at, sealed(event, route, difference));
      }
      for (const route of new Set(batch.map((one) => one.route))) yield* changed(TRIM, route);
    },
    comparisons: (route) => rows<{ outcome: ComparisonOutcome; count: number }>(COUNTS, route).as(comparisonCounts),
    differences: (route) =>
      rows<DifferenceRow>(DIFFERENCES, route).as((found) => found.map((row) => opened(route, row))),
    *resetComparisons(route) {
      yield* changed("DELETE FROM authserve.shadow_differences WHERE route = $1", route);
      return (yield* change("DELETE FROM authserve.shadow_counts WHERE route = $1", route)) > 0;
    },
  };
}
