import assert from "node:assert/strict";
import { test } from "node:test";
import type { UnavailableRoute } from "../../src/events/store.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { createOutages } from "../../src/worker/outages.ts";
import { tempDatabase } from "../helpers/database.ts";
import { recordingLog } from "../helpers/log.ts";
import { until } from "../helpers/until.ts";

const NOW = Date.UTC(2026, 0, 1);

test("a target that is available again in the same millisecond, or after the clock was set back, is noted as such", async (t) => {
  const { events } = localStores(tempDatabase(t).database);
  let clock = NOW;
  let routes: UnavailableRoute[] = [];
  const outages = createOutages({
    store: events,
    owner: "worker",
    read: () => routes,
    tryNow() {},
    pollIntervalMs: 20,
    log: recordingLog().log,
    now: () => clock,
  });
  t.after(() => outages.stop());
  outages.start();
  for (const setBackMs of [0, 1000]) {
    routes = [{ route: "default", since: NOW, probeAt: NOW + 1000 }];
    outages.wake();
    await until(async () => (await events.unavailableRoutes(NOW)).length === 1);
    clock -= setBackMs;
    routes = [];
    outages.wake();
    await until(async () => (await events.unavailableRoutes(NOW)).length === 0, 5000);
  }
  assert.equal((await events.unavailableRoutes(clock)).length, 0);
});
