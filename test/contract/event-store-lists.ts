import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Claim, ClaimedJob } from "../../src/events/job.ts";
import type { EventFilter, EventStore } from "../../src/events/store.ts";
import { claim, claimOf, fanOut, NOW, newEvent, numbersOf } from "../helpers/events.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import type { OpenEventStore } from "./event-store.ts";

const idsOf = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId).join("");

/** The events of all pages of a list. */
async function pagedIds(store: EventStore, filter: EventFilter): Promise<string> {
  const { items, older } = await store.list(filter);
  return idsOf(items) + (older === null ? "" : await pagedIds(store, { ...filter, before: older }));
}

/** Lists and counts. */
export function listContract(adapter: string, open: OpenEventStore): void {
  suite(`event store: ${adapter}: lists`, () => {
    async function filled(t: Cleanup): Promise<EventStore> {
      const store = await open(t);
      const rows = [
        ["a", "push", "x"],
        ["b", "push", "y"],
        ["c", "pull_request", "x"],
        ["d", "push", "x"],
      ] as const;
      await store.append(
        rows.map(([eventId, type, source], i) => newEvent({ eventId, type, source, receivedAt: NOW + i * 10 })),
      );
      const { claimed } = await claim(store, { limit: 2, now: NOW + 100 });
      for (const job of claimed) {
        const { eventId } = job;
        const next = eventId === "a" ? ({ to: "processed" } as const) : ({ to: "failed", reason: "no" } as const);
        const error = eventId === "a" ? null : "no";
        await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW + 200, error }]);
      }
      return store;
    }

    for (const [what, filter, ids] of [
      ["everything", {}, "dcba"],
      ["a status", { status: "queued" }, "dc"],
      ["another status", { status: "failed" }, "b"],
      ["the last status", { status: "processed" }, "a"],
      ["a type", { type: "push" }, "dba"],
      ["a source", { source: "x" }, "dca"],
      ["a time, itself included", { since: NOW + 20 }, "dc"],
      ["all of them together", { status: "queued", type: "push", source: "x", since: NOW }, "d"],
      ["a processed type of a source", { status: "processed", type: "push", source: "x" }, "a"],
      ["the end of a time, not included", { until: NOW + 20 }, "ba"],
      ["a part of the last error, in any case", { error: "NO" }, "b"],
      ["an error and a status", { error: "no", status: "processed" }, ""],
      ["nothing that fits", { type: "nothing" }, ""],
    ] as const) {
      test(`newest first, by ${what}`, async (t) => {
        const { items: events } = await (await filled(t)).list({ ...filter, limit: 100 });
        assert.equal(events.map(({ eventId }) => eventId).join(""), ids);
      });
    }

    /** The jobs of the route `one` have these ends. Those of `other` are processed, but for that of `c`. */
    const ENDS: Record<string, string> = { a: "failed", b: "failed", c: "processed", d: "queued", e: "discarded" };

    async function ofTwoRoutes(t: Cleanup): Promise<EventStore> {
      const store = await open(t);
      const ids = [...Object.keys(ENDS), "f"];
      await store.append(
        ids.map((eventId) =>
          newEvent({
            eventId,
            source: eventId === "b" ? "y" : "x",
            type: eventId === "b" ? "pull" : "push",
            payload: Buffer.from(`payload ${eventId}`),
          }),
        ),
      );
      const events = await store.pending(10);
      const jobOf = (event: number, route: string) => ({ event, route, dueAt: NOW, orderingKey: null });
      const jobs = events.flatMap(({ id }) => [jobOf(id, "one"), jobOf(id, "other")]);
      await store.addJobs(numbersOf(events), jobs.slice(0, -2).concat(jobOf(events.at(-1)?.id ?? 0, "other")));
      for (const route of ["one", "other"]) {
        for (const job of (await claim(store, { route, now: NOW + 1 })).claimed) {
          const end = route === "one" ? ENDS[job.eventId] : job.eventId === "c" ? "failed" : "processed";
          await endAs(store, job, end ?? "");
        }
      }
      await store.discard({ eventId: "e", source: "x" }, "not needed", NOW + 2);
      return store;
    }

    async function endAs(store: EventStore, job: ClaimedJob, end: string): Promise<void> {
      if (end !== "failed" && end !== "processed") return store.release([claimOf(job)], NOW + 1);
      const next = end === "failed" ? ({ to: "failed", reason: "no" } as const) : ({ to: "processed" } as const);
      const error = end === "failed" ? `no ${job.eventId}` : null;
      await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW + 1, error }]);
    }

    for (const [what, filter, ids] of [
      ["its jobs of any status", {}, "edcba"],
      ["jobs that wait", { status: "queued" }, "d"],
      ["failed jobs, also of events that are queued", { status: "failed" }, "ba"],
      ["processed jobs, also of events that have failed", { status: "processed" }, "c"],
      ["discarded jobs", { status: "discarded" }, "e"],
      ["an error of its jobs", { error: "NO A" }, "a"],
      ["a type", { type: "pull" }, "b"],
      ["a failed source", { source: "x", status: "failed" }, "a"],
      ["a processed source of a time", { source: "x", status: "processed", since: NOW, until: NOW + 60_000 }, "c"],
      ["a payload", { search: "payload c" }, "c"],
      ["no route", { status: "unrouted" }, ""],
    ] as const) {
      test(`by a route, by ${what}`, async (t) => {
        const store = await ofTwoRoutes(t);
        const page = await store.list({ route: "one", ...filter, limit: 10 });
        assert.deepEqual([idsOf(page.items), page.older], [ids, null]);
        assert.deepEqual(
          page.items.map(({ status }) => status),
          [...ids].map((id) => ENDS[id]),
        );
        assert.deepEqual((await store.list({ route: "none", ...filter, limit: 10 })).items, []);
      });
    }

    test("by a route come in pages, and those that come later after them", async (t) => {
      const store = await filled(t);
      const first = await store.list({ route: "default", limit: 3 });
      const second = await store.list({ route: "default", limit: 3, before: String(first.older) });
      assert.deepEqual([idsOf(first.items), idsOf(second.items), second.older], ["dcb", "a", null]);
      await store.append([newEvent({ eventId: "new" })]);
      const early = await store.list({ route: "default", limit: 3, after: first.newer });
      assert.deepEqual(early.items, []);
      await fanOut(store);
      assert.equal(idsOf((await store.list({ route: "default", limit: 3, after: early.newer })).items), "new");
    });

    for (const [error, found, missed] of [
      ["INVALID id", ["invalid ID", "d id"], ["inválid"]],
      ["Échec à Zürich", ["échec À ZÜRICH", "ÉCHEC", "E\u0301chec"], ["echec", "Zurich"]],
      ["Straße gesperrt", ["STRASSE", "STRAẞE"], ["STRASE"]],
      ["ΤΕΛΟΣ: τέλος", ["τελος", "ΤΕΛΟΣ:", "Τέλοσ"], ["τελοσ τ"]],
      ["ошибка", ["ОШИБКА"], ["ошибки"]],
      ["İstanbul", ["İSTANBUL", "stanbul"], ["ıstanbul"]],
      ["100 % of 𐐨_", ["100 % OF 𐐀_"], ["100 %% of", "100_"]],
    ] as const) {
      test(`and jobs with the error ${error} are found by a part of it in any case`, async (t) => {
        const store = await open(t);
        await store.append([newEvent(), newEvent({ eventId: "e-2" })]);
        for (const job of (await claim(store)).claimed) {
          const end = { next: { to: "failed", reason: "no" } as const, startedAt: NOW, finishedAt: NOW };
          await store.settle([{ ...claimOf(job), ...end, error: job.eventId === "e-1" ? error : "-" }]);
        }
        for (const [parts, ids] of [
          [found, ["e-1"]],
          [missed, []],
        ] as const)
          for (const part of parts) {
            const jobs = { status: "failed", error: part } as const;
            assert.deepEqual(
              (await store.list({ error: part, limit: 10 })).items.map(({ eventId }) => eventId),
              ids,
              part,
            );
            assert.deepEqual(
              (await store.jobs(jobs, { limit: 10 })).items.map(({ eventId }) => eventId),
              ids,
              part,
            );
            assert.equal((await store.count(jobs, { limit: 10 })).count, ids.length, part);
          }
      });
    }

    test("by an error of many events come in pages of any size", async (t) => {
      const store = await open(t);
      await store.append(Array.from({ length: 2500 }, (_, n) => newEvent({ eventId: `e-${n}` })));
      const { claimed } = await claim(store, { limit: 2500 });
      const end = { next: { to: "failed", reason: "no" } as const, startedAt: NOW, finishedAt: NOW };
      await store.settle(
        claimed.map((job, n) => ({ ...claimOf(job), ...end, error: n % 600 === 0 ? "rare" : "usual" })),
      );
      const ids: string[] = [];
      for (let before: string | null | undefined; before !== null; ) {
        const page = await store.list({ error: "RARE", limit: 2, ...(before === undefined ? {} : { before }) });
        ids.push(...page.items.map(({ eventId }) => eventId));
        before = page.older;
      }
      assert.deepEqual(ids, ["e-2400", "e-1800", "e-1200", "e-600", "e-0"]);
    });

    for (const filter of [{}, { type: "push" }, { status: "queued" }] as const) {
      test(`come in pages, and give the events newer than a page, by ${JSON.stringify(filter)}`, async (t) => {
        const store = await filled(t);
        const all = await store.list({ ...filter, limit: 100 });
        assert.equal(all.older, null);
        const pages: string[] = [];
        let before: { before?: string } = {};
        for (;;) {
          const { items, older } = await store.list({ ...filter, ...before, limit: 1 });
          pages.push(idsOf(items));
          if (older === null) break;
          before = { before: older };
        }
        assert.equal(pages.join(""), idsOf(all.items));
        assert.deepEqual((await store.list({ ...filter, after: all.newer, limit: 100 })).items, []);
        await store.append([newEvent({ eventId: "new", type: "push", receivedAt: NOW })]);
        const { items, newer } = await store.list({ ...filter, after: all.newer, limit: 100 });
        assert.equal(idsOf(items), "new");
        await fanOut(store);
        assert.equal((await store.list({ ...filter, after: newer, limit: 100 })).newer, newer);
      });
    }

    test("hold no more than the limit", async (t) => {
      const { items: events } = await (await filled(t)).list({ limit: 2 });
      assert.deepEqual(
        events.map(({ eventId }) => eventId),
        ["d", "c"],
      );
    });

    test("show events before fan-out, claimed and released events in one order", async (t) => {
      const store = await open(t);
      await store.append([..."abcde"].map((eventId, at) => newEvent({ eventId, receivedAt: NOW + at })));
      const { claimed } = await claim(store, { limit: 3, now: NOW + 10 });
      await store.append([newEvent({ eventId: "f", receivedAt: NOW + 5 })]);
      const [a, b] = claimed.map((job) => claimOf(job)) as [Claim, Claim];
      const next = { to: "queued", runAt: NOW + 60_000, isFree: false } as const;
      await store.settle([{ ...a, next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
      await store.release([b], NOW + 10);
      const ids = async (filter: Omit<EventFilter, "limit">, limit = 10) =>
        (await store.list({ ...filter, limit })).items.map(({ eventId, attempts }) => eventId + attempts).join(" ");
      assert.equal(await ids({}), "f0 e0 d0 c1 b0 a1");
      assert.equal(await ids({}, 3), "f0 e0 d0");
      assert.equal(await ids({ status: "queued", type: "push", source: "default", since: NOW + 1 }), "f0 e0 d0 c1 b0");
      assert.equal(await ids({ status: "processed" }), "");
      assert.equal((await store.backlog()).oldestQueuedAt, NOW);
    });

    test("give the time of the oldest queued event, before and after fan-out", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ eventId: "a" }), newEvent({ eventId: "b", receivedAt: NOW - 10 })]);
      const oldest = async () => (await store.backlog()).oldestQueuedAt;
      assert.equal(await oldest(), NOW);
      const [b, a] = (await claim(store)).claimed as [ClaimedJob, ClaimedJob];
      assert.equal(await oldest(), NOW);
      await store.settle([{ ...claimOf(a), next: { to: "processed" }, startedAt: NOW, finishedAt: NOW, error: null }]);
      assert.equal(await oldest(), NOW - 10);
      await store.settle([{ ...claimOf(b), next: { to: "processed" }, startedAt: NOW, finishedAt: NOW, error: null }]);
      assert.equal(await oldest(), null);
    });

    test("since a time are complete after the clock was set back, before and after fan-out", async (t) => {
      const store = await open(t);
      const minutes = [10, 1, 12, 2, 3];
      await store.append(
        minutes.map((minute) => newEvent({ eventId: String(minute), receivedAt: NOW + minute * 60_000 })),
      );
      const since = async (minute: number) =>
        (await store.list({ since: NOW + minute * 60_000, limit: 10 })).items.map(({ eventId }) => eventId).join(" ");
      const expected = new Map([
        [1, "3 2 12 1 10"],
        [2, "3 2 12 10"],
        [3, "3 12 10"],
        [11, "12"],
        [13, ""],
      ]);
      for (const [minute, ids] of expected) assert.equal(await since(minute), ids);
      await fanOut(store);
      for (const [minute, ids] of expected) assert.equal(await since(minute), ids);
    });

    test("until a time are those of a plain filter, with a clock that was set back and with events before fan-out", async (t) => {
      const store = await open(t);
      const minutes = [10, 1, 12, 2, 2, 30, 13, 3, 31, 0, 60, 32, 61, 33, 2];
      const events = minutes.map((minute, at) =>
        newEvent({
          eventId: "abcdefghijklmno"[at] ?? "",
          type: at % 3 === 0 ? "a.x" : "b.x",
          source: at % 2 === 0 ? "x" : "y",
          payload: Buffer.from(at % 4 === 0 ? "wanted" : "other"),
          receivedAt: NOW + minute * 60_000 + at,
        }),
      );
      await store.append(events);
      const isRouted = new Set<string>();
      /** Gives the next events their jobs. */
      async function route(count: number): Promise<void> {
        const found = await store.pending(count);
        const jobs = found.map(({ id }) => ({ event: id, route: "default", dueAt: NOW, orderingKey: null }));
        await store.addJobs(numbersOf(found), jobs);
        for (const { eventId } of events.slice(isRouted.size, isRouted.size + count)) isRouted.add(eventId);
      }
      const filters: [Omit<EventFilter, "limit">, (event: (typeof events)[number], at: number) => boolean][] = [
        [{}, () => true],
        [{ since: NOW + 120_000 }, ({ receivedAt }) => receivedAt >= NOW + 120_000],
        [{ status: "queued" }, () => true],
        [{ type: "a.x" }, ({ type }) => type === "a.x"],
        [{ type: "a.*" }, ({ type }) => type === "a.x"],
        [{ source: "y" }, ({ source }) => source === "y"],
        [{ search: "wanted" }, (_, at) => at % 4 === 0],
        [{ route: "default" }, ({ eventId }) => isRouted.has(eventId)],
      ];
      for (const count of [0, 4, 7, 4]) {
        await route(count);
        for (const end of [0, 1, 2, 3, 11, 14, 32, 40, 60, 99])
          for (const [filter, isTaken] of filters) {
            const until = NOW + end * 60_000 + 4;
            const expected = events.filter((event, at) => isTaken(event, at) && event.receivedAt < until).reverse();
            const ids = await pagedIds(store, { ...filter, until, limit: 6 });
            assert.equal(ids, idsOf(expected), JSON.stringify({ ...filter, end, routed: isRouted.size }));
          }
      }
    });

    test("find events by a part of the payload, before and after fan-out, together with other filters", async (t) => {
      const store = await open(t);
      const payloads = ['{"customer":"cus_1"}', '{"customer":"cus_12"}', "CUS_1", "a\0cus_1", "ñ%_"];
      await store.append(
        payloads.map((text, at) =>
          newEvent({ eventId: String(at), type: at === 0 ? "a" : "b", payload: Buffer.from(text) }),
        ),
      );
      const found = async (filter: Omit<EventFilter, "limit">) =>
        (await store.list({ ...filter, limit: 10 })).items.map(({ eventId }) => eventId).join("");
      for (const prepare of [async () => {}, () => fanOut(store)]) {
        await prepare();
        assert.equal(await found({ search: "cus_1" }), "310");
        assert.equal(await found({ search: "cus_1", type: "a" }), "0");
        assert.equal(await found({ search: "cus_1", status: "queued", since: NOW }), "310");
        assert.equal(await found({ search: "%_" }), "4");
        assert.equal(await found({ search: "ñ" }), "4");
        assert.equal(await found({ search: "no" }), "");
      }
    });

    test("find events by a part of the id, the type, the headers and an answer, and those of exactly an id first", async (t) => {
      const store = await open(t);
      const ids = ["evt_wanted", "b", "c", "d", "e", "wanted", "g"];
      await store.append(
        ids.map((eventId) =>
          newEvent({
            eventId,
            type: eventId === "c" ? "it.wanted" : eventId === "d" ? "it.other" : "push",
            headers: eventId === "e" ? '{"x-trace":"wanted"}' : "{}",
          }),
        ),
      );
      const found = async (filter: Omit<EventFilter, "limit">, limit = 10) =>
        (await store.list({ ...filter, limit })).items.map(({ eventId }) => eventId).join(" ");
      assert.equal(await found({ search: "wanted" }), "wanted e c evt_wanted");
      await fanOut(store);
      assert.equal(await found({ search: "wanted" }), "wanted e c evt_wanted");
      for (const job of (await claim(store, { now: NOW + 1 })).claimed) {
        const ended = { next: { to: "processed" as const }, startedAt: NOW, finishedAt: NOW + 1, error: null };
        const answer = job.eventId === "b" ? { response: "no such customer wanted", responseStatus: 200 } : {};
        await store.settle([{ ...claimOf(job), ...ended, ...answer }]);
      }
      assert.equal(await found({ search: "wanted" }), "wanted e c b evt_wanted");
      assert.equal(await found({ search: "wanted", status: "processed", type: "push" }), "wanted e b evt_wanted");
      assert.equal(await found({ search: "wanted", status: "failed" }), "");
      assert.equal(await found({ search: "wanted" }, 1), "wanted");
      const first = await store.list({ search: "wanted", limit: 2 });
      const rest = await store.list({ search: "wanted", limit: 9, before: String(first.older) });
      assert.deepEqual(
        [first, rest].map(({ items }) => items.map(({ eventId }) => eventId).join(" ")),
        ["wanted e", "c b evt_wanted"],
      );
    });

    test("find events by a list of types", async (t) => {
      const store = await open(t);
      const types = ["a.x", "a.y", "b.x", "a.draft"];
      await store.append(types.map((type, at) => newEvent({ eventId: String(at), type })));
      const found = async (filter: Omit<EventFilter, "limit">) =>
        (await store.list({ ...filter, limit: 10 })).items.map(({ type }) => type).join(" ");
      for (const prepare of [async () => {}, () => fanOut(store)]) {
        await prepare();
        assert.equal(await found({ type: "a.*" }), "a.draft a.y a.x");
        assert.equal(await found({ type: "a.*,!*.draft" }), "a.y a.x");
        assert.equal(await found({ type: "*.x", status: "queued", source: "default" }), "b.x a.x");
        assert.equal(await found({ type: "A.*" }), "");
      }
      assert.deepEqual(await store.count({ status: "queued", type: "*.x" }, { limit: 10 }), { count: 2, next: null });
    });

    test("of a search come in pages, over more events than one step looks at", async (t) => {
      const store = await open(t);
      const count = 2500;
      await store.append(
        Array.from({ length: count }, (_, n) =>
          newEvent({ eventId: String(n), payload: Buffer.from(n % 1000 === 7 ? "wanted" : "other") }),
        ),
      );
      await fanOut(store);
      const pages: string[][] = [];
      for (let before: string | null | undefined; before !== null; ) {
        const page = await store.list({ search: "wanted", limit: 2, ...(before === undefined ? {} : { before }) });
        pages.push(page.items.map(({ eventId }) => eventId));
        before = page.older;
      }
      assert.deepEqual(pages.flat(), ["2007", "1007", "7"]);
      assert.equal(pages[0]?.length, 2);
    });

    test("keep the order of arrival within one millisecond", async (t) => {
      const store = await open(t);
      await store.append(["a", "b", "c"].map((eventId) => newEvent({ eventId })));
      const { items: events } = await store.list({ limit: 10 });
      assert.equal(events.map(({ eventId }) => eventId).join(""), "cba");
    });

    test("show the result of an event", async (t) => {
      const [failed] = (await (await filled(t)).list({ status: "failed", limit: 1 })).items;
      assert.deepEqual(failed, {
        source: "y",
        eventId: "b",
        type: "push",
        status: "failed",
        attempts: 1,
        routes: ["default"],
        receivedAt: NOW + 10,
        processedAt: null,
        lastError: "no",
      });
    });

    test("find events by the beginning of their id, in one source or in all", async (t) => {
      const store = await open(t);
      const ids = ["evt_1", "evt_12", "evt_2", "évt"];
      await store.append(ids.map((eventId) => newEvent({ eventId, source: eventId === "evt_12" ? "y" : "x" })));
      const found = async (...args: Parameters<EventStore["startingWith"]>) =>
        (await store.startingWith(...args)).map(({ eventId, source }) => `${eventId} ${source}`);
      assert.deepEqual(await found("evt_1", undefined, 5), ["evt_1 x", "evt_12 y"]);
      assert.deepEqual(await found("evt_1", "y", 5), ["evt_12 y"]);
      assert.deepEqual(await found("evt", undefined, 2), ["evt_1 x", "evt_12 y"]);
      assert.deepEqual(await found("é", undefined, 5), ["évt x"]);
      assert.deepEqual(await found("%", undefined, 5), []);
    });

    test("agree with the counts", async (t) => {
      const counts = await (await filled(t)).backlog();
      assert.deepEqual(counts, {
        queued: 2,
        processed: 1,
        failed: 1,
        discarded: 0,
        unrouted: 0,
        conflicts: 0,
        unreadable: 0,
        oldestQueuedAt: NOW + 20,
        ids: 4,
        bytes: counts.bytes,
      });
      assert.ok(counts.bytes > 0);
    });

    test("of an empty store are empty, and so are its counts", async (t) => {
      const store = await open(t);
      assert.deepEqual((await store.list({ limit: 10 })).items, []);
      const counts = await store.backlog();
      assert.deepEqual(counts, {
        queued: 0,
        processed: 0,
        failed: 0,
        discarded: 0,
        unrouted: 0,
        conflicts: 0,
        unreadable: 0,
        oldestQueuedAt: null,
        ids: 0,
        bytes: counts.bytes,
      });
    });
  });
}
