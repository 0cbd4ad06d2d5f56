import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { EventItem } from "../../../src/admin/page/answers.ts";
import { createEventList, eventKey, type LoadPage } from "../../../src/admin/page/events/list.ts";

const eventOf = (number: number, status: EventItem["status"] = "processed"): EventItem => ({
  source: "shop",
  eventId: `evt_${number}`,
  type: "order",
  status,
  attempts: 1,
  receivedAt: new Date(number * 1000).toISOString(),
  processedAt: null,
  lastError: null,
  routes: [],
});

/** A server with events that are numbered as they come, and its list, newest first. */
function serverWith(count: number) {
  const events = Array.from({ length: count }, (_, index) => eventOf(index));
  const load: LoadPage = async ({ cursor, limit }) => {
    const until = Number(cursor ?? events.length);
    const from = Math.max(0, until - limit);
    return { items: events.slice(from, until).reverse(), cursor: from > 0 ? String(from) : null };
  };
  return {
    load,
    arrive: (more: number) => {
      for (let i = 0; i < more; i++) events.push(eventOf(events.length));
    },
    change: (number: number) => {
      events[number] = eventOf(number, "failed");
    },
  };
}

const NOW = Date.UTC(2026, 0, 1);

const listOf = (load: LoadPage) => createEventList(load, () => NOW);

const numbersOf = (rows: readonly EventItem[]) => rows.map(({ eventId }) => Number(eventId.slice(4)));
const downFrom = (newest: number, count: number) => Array.from({ length: count }, (_, index) => newest - index);

suite("a list of events", () => {
  test("grows by a page until the oldest event", async () => {
    const list = listOf(serverWith(70).load);
    await list.loadMore();
    assert.deepEqual([list.rows.value.length, list.hasMore.value], [50, true]);
    await list.loadMore();
    assert.deepEqual(numbersOf(list.rows.value), downFrom(69, 70));
    assert.equal(list.hasMore.value, false);
  });

  test("asks again while a search finds little", async () => {
    let requests = 0;
    const list = listOf(async () => {
      requests++;
      return { items: requests === 4 ? [eventOf(7)] : [], cursor: requests === 6 ? null : String(requests) };
    });
    await list.loadMore();
    assert.deepEqual([requests, numbersOf(list.rows.value), list.hasMore.value], [6, [7], false]);
  });

  test("can be stopped, and goes on from there", async () => {
    const cursors: (string | undefined)[] = [];
    const list = listOf(async ({ cursor }) => {
      cursors.push(cursor);
      if (cursors.length === 2) list.stop();
      return { items: [], cursor: cursors.length === 3 ? null : `c${cursors.length}` };
    });
    await list.loadMore();
    assert.deepEqual([list.isLoading.value, list.hasMore.value], [false, true]);
    await list.loadMore();
    assert.deepEqual(cursors, [undefined, "c1", "c1"]);
  });

  test("shows new events, and changes of known ones", async () => {
    const server = serverWith(5);
    const list = listOf(server.load);
    const loading = list.loadMore();
    assert.equal(await list.refresh(false), 0, "before the first page");
    await loading;
    server.arrive(2);
    server.change(4);
    assert.equal(await list.refresh(false), 2);
    assert.deepEqual(numbersOf(list.rows.value), downFrom(6, 7));
    assert.equal(list.rows.value[2]?.status, "failed");
    assert.deepEqual(
      [...list.arrivals],
      [6, 5].map((number) => [eventKey(eventOf(number)), NOW]),
    );
  });

  test("lets new events wait while the reader is in the list", async () => {
    const server = serverWith(5);
    const list = listOf(server.load);
    await list.loadMore();
    server.arrive(1);
    await list.refresh(true);
    server.arrive(1);
    await list.refresh(true);
    assert.deepEqual(numbersOf(list.rows.value), downFrom(4, 5));
    assert.deepEqual(numbersOf(list.waiting.value), [6, 5]);
    list.showWaiting();
    assert.deepEqual([numbersOf(list.rows.value), list.waiting.value], [downFrom(6, 7), []]);
    server.arrive(1);
    await list.refresh(true);
    assert.equal(await list.refresh(false), 0);
    assert.deepEqual(numbersOf(list.rows.value), downFrom(7, 8), "shown once the reader has left the list");
  });

  test("has no hole after more events than a page came at once", async () => {
    const server = serverWith(60);
    const list = listOf(server.load);
    await list.loadMore();
    server.arrive(80);
    await list.refresh(true);
    list.showWaiting();
    while (list.hasMore.value) await list.loadMore();
    assert.deepEqual(numbersOf(list.rows.value), downFrom(139, 140));
  });

  test("keeps its events when a request fails, and goes on with the next", async () => {
    const server = serverWith(70);
    let isDown = false;
    const list = listOf(async (page, signal) => {
      if (isDown) throw new Error("down");
      return server.load(page, signal);
    });
    await list.loadMore();
    isDown = true;
    await list.loadMore();
    assert.equal(await list.refresh(false), 0);
    assert.deepEqual([String(list.failure.value), list.rows.value.length], ["Error: down", 50]);
    isDown = false;
    await list.loadMore();
    assert.deepEqual([list.failure.value, list.rows.value.length], [null, 70]);
  });
});
