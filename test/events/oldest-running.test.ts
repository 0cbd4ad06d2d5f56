import assert from "node:assert/strict";
import { test } from "node:test";
import { oldestOfRunning } from "../../src/events/oldest-running.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { tempDatabase } from "../helpers/database.ts";
import { NOW, newEvent, numbersOf } from "../helpers/events.ts";

test("the oldest event of a route that runs is found behind many of a paused one, over several looks", async (t) => {
  const { events } = localStores(tempDatabase(t).database);
  const count = 2600;
  await events.append(Array.from({ length: count }, (_, n) => newEvent({ eventId: String(n), receivedAt: NOW + n })));
  const numbers = numbersOf(await events.pending(count));
  const routeOf = (n: number) => (n < count - 1 ? "paused" : "runs");
  await events.addJobs(
    numbers,
    numbers.map((event, n) => ({ event, route: routeOf(n), dueAt: NOW, orderingKey: null })),
  );
  const oldest = oldestOfRunning(events);
  assert.equal(await oldest(["paused"]), undefined);
  assert.equal(await oldest(["paused"]), NOW + count - 1);
  assert.equal(await oldest(["paused"]), NOW + count - 1);
  assert.equal(await oldest(["runs"]), NOW);
  assert.equal(await oldestOfRunning(localStores(tempDatabase(t).database).events)(["paused"]), null);
});
