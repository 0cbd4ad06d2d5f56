import {
  type ComparisonOutcome,
  comparisonCounts,
  type DifferenceRow,
  type KeptOutcome,
  MAX_DIFFERENCES,
  summedComparisons,
} from "../events/shadow.ts";
import type { EventStore } from "../events/store.ts";
import type { PayloadCodec } from "../storage/payload-codec.ts";
import { differenceCodec } from "../storage/sealed-differences.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

type ShadowPort = Pick<EventStore, "addComparisons" | "comparisons" | "differences" | "resetComparisons">;

/** The comparisons of shadow routes. */
export function shadowComparisons(database: Database, codec: PayloadCodec): SyncPort<ShadowPort> {
  const { sealed, opened, outcomeOf } = differenceCodec(codec);
  const addCount = database.prepare(`
    INSERT INTO shadow_counts (route, outcome, count) VALUES (@route, @outcome, @count)
    ON CONFLICT (route, outcome) DO UPDATE SET count = count + excluded.count`);
  // The newest comparison of an event counts, as long as its content is stored.
  const keep = database.prepare(`
    INSERT INTO shadow_differences (event, route, at, difference)
    SELECT event, @route, @at, @difference FROM contents
    WHERE event = @event AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.event = @event)
    ON CONFLICT (event, route) DO UPDATE SET at = excluded.at, difference = excluded.difference`);
  const kept = database
    .prepare<[number, string], string>("SELECT difference FROM shadow_differences WHERE event = ? AND route = ?")
    .pluck();
  const forget = database.prepare("DELETE FROM shadow_differences WHERE event = ? AND route = ?");
  const trim = database.prepare(`
    DELETE FROM shadow_differences WHERE route = @route AND event < (
      SELECT event FROM shadow_differences WHERE route = @route ORDER BY event DESC LIMIT 1 OFFSET ${MAX_DIFFERENCES - 1})`);
  const counts = database.prepare<[string], { outcome: ComparisonOutcome; count: number }>(
    "SELECT outcome, count FROM shadow_counts WHERE route = ?",
  );
  const differences = database.prepare<[string], DifferenceRow>(`
    SELECT event, source, event_id AS eventId, type, at, difference
    FROM shadow_differences JOIN events ON events.id = event WHERE route = ? ORDER BY event DESC`);
  const resetCounts = database.prepare("DELETE FROM shadow_counts WHERE route = ?");
  const resetDifferences = database.prepare("DELETE FROM shadow_differences WHERE route = ?");

  return {
    addComparisons: atomic(database, (batch) => {
      const earlier = batch.flatMap(({ event, route }): KeptOutcome[] => {
        const difference = kept.get(event, route);
        return difference === undefined ? [] : [{ event, route, outcome: outcomeOf(route, event, difference) }];
      });
      for (const sum of summedComparisons(batch, earlier)) addCount.run(sum);
      for (const { event, route, at, difference } of batch) {
        if (difference === null) forget.run(event, route);
        else keep.run({ event, route, at, difference: sealed(event, route, difference) });
      }
      for (const route of new Set(batch.map((one) => one.route))) trim.run({ route });
    }),
    comparisons: (route) => comparisonCounts(counts.all(route)),
    differences: (route) => differences.all(route).map((row) => opened(route, row)),
    resetComparisons: atomic(database, (route: string) => {
      resetDifferences.run(route);
      return resetCounts.run(route).changes > 0;
    }),
  };
}
