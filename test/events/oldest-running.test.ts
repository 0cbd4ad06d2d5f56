import assert from "node:assert/strict";
import { test } from "node:test";
import { createOldestRunning } from "../../src/events/oldest-running.ts";
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
  const oldest = createOldestRunning(events);
  const pausing = (route: string | null) =>
    oldest({ oldestQueuedAt: NOW }, [{ route: route ?? "runs", queued: 1, pausedAt: route === null ? null : NOW }]);
  assert.equal(await pausing("paused"), "unknown");
  assert.equal(await pausing("paused"), NOW + count - 1);
  assert.equal(await pausing("paused"), NOW + count - 1);
  assert.equal(await pausing("runs"), NOW);
  assert.equal(await pausing(null), NOW);
  assert.equal(await oldest({ oldestQueuedAt: NOW }, null), "unknown");
  const none = createOldestRunning(localStores(tempDatabase(t).database).events);
  assert.equal(await none({ oldestQueuedAt: null }, [{ route: "paused", queued: 1, pausedAt: NOW }]), null);
});
