import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DEFAULT_RETENTION } from "../../src/events/retention.ts";
import type { PurgedPage, PurgeRequest } from "../../src/events/store.ts";
import { createPurger, type OnPurged, restMs } from "../../src/worker/purger.ts";
import { recordingLog } from "../helpers/log.ts";
import { until } from "../helpers/until.ts";

const SHORT = { ...DEFAULT_RETENTION, idsMs: 0 };
const nothing = { events: 0, ids: 0, bytes: 0, fruitlessMs: 0, next: null };

/** A purger on a store that answers with these pages, and then with empty ones. */
function opened(pages: (PurgedPage | Error)[], onPurged?: OnPurged) {
  const requests: PurgeRequest[] = [];
  const { log, named } = recordingLog();
  const store = {
    async purge(request: PurgeRequest) {
      requests.push(request);
      const page = pages.shift() ?? nothing;
      if (page instanceof Error) throw page;
      return page;
    },
  };
  const purger = createPurger(SHORT, { store, log, now: () => 5000, ...(onPurged && { onPurged }) });
  return { purger, requests, named };
}

suite("a purge is followed by a rest", () => {
  const LIMITED = { ...DEFAULT_RETENTION, maxBytes: 20_000_000 };

  test("that is short while a limit is exceeded, however long the removal took", () => {
    assert.equal(restMs(LIMITED, { events: 1, fruitlessMs: 0 }), 100);
    assert.equal(restMs(LIMITED, { events: 0, fruitlessMs: 0 }), 1000);
  });

  test("that is ten times what it took to look at events that are kept, and a minute at most", () => {
    assert.equal(restMs(LIMITED, { events: 1, fruitlessMs: 300 }), 3000);
    for (const retention of [LIMITED, DEFAULT_RETENTION])
      assert.equal(restMs(retention, { events: 1, fruitlessMs: 1e6 }), 60_000);
  });

  test("that does not depend on what was removed, without a limit", () => {
    for (const events of [0, 1]) assert.equal(restMs(SHORT, { events, fruitlessMs: 0 }), 1000);
  });
});

suite("the purger", () => {
  test("goes through all pages, and reports what it has removed", async () => {
    const purges: [object, number][] = [];
    const { purger, requests, named } = opened(
      [
        { events: 2, ids: 0, bytes: 10, fruitlessMs: 0, next: "a" },
        { events: 0, ids: 3, bytes: 0, fruitlessMs: 0, next: "b" },
      ],
      (purged, at) => purges.push([purged, at]),
    );
    purger.start();
    await until(() => purges.length > 0);
    await purger.stop();
    assert.deepEqual(purges, [[{ events: 2, ids: 3, bytes: 10 }, 5000]]);
    assert.deepEqual(
      requests.map(({ cursor }) => cursor),
      [undefined, "a", "b"],
    );
    const [line] = named("events_purged");
    assert.deepEqual([line?.events, line?.ids, line?.bytes], [2, 3, 10]);
  });

  test("begins anew with another retention at once", async () => {
    const { purger, requests } = opened([]);
    purger.start();
    await until(() => requests.length === 1);
    purger.apply(DEFAULT_RETENTION);
    await until(() => requests.some(({ retention }) => retention === DEFAULT_RETENTION));
    await purger.stop();
  });

  test("tries again after an error, and logs it once", async () => {
    const { purger, requests, named } = opened([new Error("full"), new Error("full")]);
    purger.start();
    for (const count of [1, 2, 3]) {
      await until(() => requests.length === count);
      purger.apply({ ...SHORT });
    }
    await purger.stop();
    assert.deepEqual(
      named("purge_error").map(({ error }) => error),
      ["full"],
    );
    assert.deepEqual(named("events_purged"), []);
  });
});
