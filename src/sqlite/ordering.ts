import type { Database } from "./database.ts";

/** Prepares what gives the turn to the first job in a line, unless it failed or another job has the turn. */
export function promotion(database: Database): (route: string, orderingKey: string | null, now: number) => void {
  const promote = database.prepare(`
    UPDATE jobs SET due_at = @now
    WHERE event = (
        SELECT event FROM jobs WHERE route = +@route AND ordering_key = +@orderingKey AND in_line = 1
        ORDER BY event LIMIT 1)
      AND route = @route AND status = 'queued' AND NOT EXISTS (
        SELECT 1 FROM jobs WHERE route = +@route AND ordering_key = +@orderingKey AND due_at IS NOT NULL)`);
  return (route, orderingKey, now) => {
    if (orderingKey !== null) promote.run({ route, orderingKey, now });
  };
}
