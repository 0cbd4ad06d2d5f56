import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import * as v from "valibot";
import { MAX_FOR_MS } from "../../src/events/limits.ts";
import { listed as listedAlerts } from "../../src/operations/alerts.ts";
import { discard } from "../../src/operations/discard.ts";
import * as events from "../../src/operations/events.ts";
import * as jobs from "../../src/operations/jobs.ts";
import { shown as shownSession } from "../../src/operations/session.ts";
import { listed as listedSources } from "../../src/operations/sources.ts";
import * as state from "../../src/operations/status.ts";
import { type Answer, ask, assertProblem, deliver, event, logIn, post } from "../helpers/client.ts";
import { EMAIL } from "../helpers/credentials.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "a secret of the tests";

/** A server whose target refuses events of the type `order.refused`, and a client with its session. */
export async function startAdmin(t: TestContext, env: Record<string, string> = {}) {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const refuse = { now: true };
  target.answer(({ headers }, response) => {
    const isRefused = refuse.now && headers["x-event-type"] === "order.refused";
    response.writeHead(isRefused ? 500 : 204).end();
  });
  const dir = workingDir();
  writeFileSync(
    join(dir, "authserve.yaml"),
    `sources:
  shop: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET] }
routes:
  - { name: all, to: ${target.url}, retry: { delays: [1ms] } }
`,
  );
  const server = await startServer({ dir, env: { SHOP_SECRET: SECRET, ...env } });
  t.after(() => server[Symbol.asyncDispose]());
  const headers = { Authorization: `Bearer ${await logIn(server)}` };
  return {
    server,
    refuse,
    headers,
    get: (path: string) => ask(server, `/admin/api/${path}`, { headers }),
    send: (path: string, body: object) => post(server, `/admin/api/${path}`, body, headers),
  };
}

function deliverToShop(server: Server, body: object): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = { "Content-Type": "application/json", "X-Sig": signature(text, SECRET).slice("sha256=".length) };
  return ask(server, "/webhook/shop", { method: "POST", body: text, headers });
}

/** Checks that an answer has the shape in the reference, and returns it. */
function shaped<Schema extends v.GenericSchema>(schema: Schema, { status, json, text }: Answer): v.InferOutput<Schema> {
  assert.equal(status, 200, text);
  return v.parse(schema, json);
}

const idsOf = ({ items }: v.InferOutput<typeof events.listed.output>) => items.map(({ eventId }) => eventId);

export function adminApiSuite(store: string, settings: (t: TestContext) => Promise<Record<string, string>>): void {
  suite(`the API of the page on ${store}`, () => {
    test("lists events by filter and page by page, and finds payloads", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      for (let n = 0; n < 5; n++) await deliver(server, event(`evt_${n}`, { note: `text ${n % 2 ? "odd" : "even"}` }));
      await deliver(server, { id: "evt_refused", type: "order.refused" });
      const all = shaped(events.listed.output, await get("events"));
      assert.deepEqual(idsOf(all), ["evt_refused", "evt_4", "evt_3", "evt_2", "evt_1", "evt_0"]);
      assert.equal(all.cursor, null);
      const first = shaped(events.listed.output, await get("events?limit=4"));
      const second = shaped(events.listed.output, await get(`events?limit=4&cursor=${first.cursor}`));
      assert.deepEqual([...idsOf(first), ...idsOf(second)], idsOf(all));
      assert.deepEqual(idsOf(shaped(events.listed.output, await get("events?search=odd"))), ["evt_3", "evt_1"]);
      await until(async () => idsOf(shaped(events.listed.output, await get("events?status=failed"))).length === 1);
      assert.deepEqual(idsOf(shaped(events.listed.output, await get("events?error=500"))), ["evt_refused"]);
      assert.deepEqual(idsOf(shaped(events.listed.output, await get("events?type=order.refused&source=default"))), [
        "evt_refused",
      ]);
      assert.deepEqual(idsOf(shaped(events.listed.output, await get("events?until=2020-01-01"))), []);
    });

    test("names each parameter that is wrong", async (t) => {
      const { get, send } = await startAdmin(t, await settings(t));
      for (const [query, path] of [
        ["limit=0", "limit"],
        ["limit=501", "limit"],
        ["status=done", "status"],
        ["since=2026-02-31", "since"],
        ["cursor=abc", "cursor"],
        ["type=a&type=b", "type"],
        ["colour=red", "colour"],
      ] as const) {
        const answer = await get(`events?${query}`);
        assertProblem(answer, 400, "validation_failed");
        assert.deepEqual(
          (answer.json.errors as { path: string }[]).map((error) => error.path),
          [path],
          query,
        );
      }
      for (const body of [
        {},
        { ids: ["a"], filter: {} },
        { ids: [] },
        { ids: ["a"], dryRun: true },
        { filter: { colour: "red" } },
        { filter: { status: "queued" } },
        { filter: {}, cursor: "x" },
        { filter: {}, cursor: "17" },
        { filter: { search: "x" }, cursor: "17-2000" },
      ])
        assertProblem(await send("events/replay", body), 400, "validation_failed");
      for (const reason of ["  ", "a\0b", "a".repeat(1001)])
        assertProblem(await send("events/discard", { filter: {}, reason }), 400, "validation_failed");
    });

    test("shows an event, also if several sources have its id, and its payload as a file", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      const odd = { id: "a/b 100% é", type: "order.paid", big: 1 };
      await deliver(server, odd);
      const path = `events/${encodeURIComponent(odd.id)}`;
      await until(async () => shaped(events.shown.output, await get(path)).status === "processed");
      const shown = shaped(events.shown.output, await get(path));
      assert.equal(shown.payload, JSON.stringify(odd));
      assert.deepEqual(
        shown.jobs.map(({ route, history }) => [route, history.map(({ outcome }) => outcome)]),
        [["all", ["succeeded"]]],
      );
      await deliverToShop(server, odd);
      assertProblem(await get(path), 409, "ambiguous_event");
      assert.equal(shaped(events.shown.output, await get(`${path}?source=shop`)).source, "shop");
      const file = await get(`${path}/payload?source=shop`);
      assert.equal(file.text, JSON.stringify(odd));
      assert.equal(file.headers.get("content-type"), "application/octet-stream");
      assert.match(String(file.headers.get("content-disposition")), /^attachment/);
      assert.equal(file.headers.get("x-content-type-options"), "nosniff");
      assertProblem(await get("events/unknown"), 404, "not_found");
      assertProblem(await get("events/%2e%2e"), 404, "not_found");
    });

    test("shows under which other ids the payload of an event came", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      for (const id of ["one", "two", "two"]) await deliver(server, { note: "same" }, { "X-Request-ID": id });
      const { repeats } = shaped(events.shown.output, await get("events/one"));
      assert.deepEqual(
        repeats.map(({ number, eventId, deliveries, headers }) => [
          number,
          eventId,
          deliveries,
          headers["x-request-id"],
        ]),
        [[1, "two", 2, "two"]],
      );
    });

    test("replays and discards events by id, by filter and by payload, after counting them", async (t) => {
      const { server, refuse, get, send } = await startAdmin(t, await settings(t));
      const refused = (n: number) => ({ id: `evt_${n}`, type: "order.refused", note: n < 2 ? "first" : "later" });
      for (let n = 0; n < 6; n++) await deliver(server, refused(n));
      await deliver(server, event("evt_fine"));
      const withStatus = async (status: string) =>
        idsOf(shaped(events.listed.output, await get(`events?status=${status}`)));
      await until(async () => (await withStatus("failed")).length === 6);
      await until(async () => (await withStatus("processed")).length === 1);
      refuse.now = false;

      const counted = await send("events/replay", { filter: { type: "order.refused" }, dryRun: true });
      assert.deepEqual(shaped(discard.output, counted), { matched: 6, refused: [], cursor: null });
      const named = shaped(discard.output, await send("events/replay", { ids: ["evt_5", "evt_fine", "evt_none"] }));
      assert.equal(named.matched, 1);
      assert.deepEqual(named.refused, [
        { eventId: "evt_fine", reason: "is already processed" },
        { eventId: "evt_none", reason: "there is no such event" },
      ]);
      const found = { filter: { search: "first" } };
      assert.equal(shaped(discard.output, await send("events/replay", { ...found, dryRun: true })).matched, 2);
      assert.equal(shaped(discard.output, await send("events/replay", found)).matched, 2);
      await until(async () => (await withStatus("failed")).length === 3);
      const one = shaped(discard.output, await send("events/discard", { ids: ["evt_4"], reason: " not needed " }));
      assert.equal(one.matched, 1);
      assert.equal(shaped(discard.output, await send("events/replay", { filter: { error: "500" } })).matched, 2);
      await until(async () => (await withStatus("processed")).length === 6);
      assert.deepEqual(await withStatus("discarded"), ["evt_4"]);
      const discarded = shaped(events.shown.output, await get("events/evt_4"));
      assert.equal(discarded.jobs[0]?.discarded?.reason, "not needed");
      const again = shaped(discard.output, await send("events/discard", { ids: ["evt_4"], reason: "again" }));
      assert.deepEqual(again.refused, [{ eventId: "evt_4", reason: "is already processed or discarded" }]);
    });

    test("tells the status of the server, its routes and its sources", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      await deliver(server, event("evt_1"));
      await until(async () => shaped(state.status.output, await get("status")).events.processed === 1);
      const { routes, paused, events } = shaped(state.status.output, await get("status"));
      assert.deepEqual([paused, events.queued, events.oldestQueuedAt], [null, 0, null]);
      assert.deepEqual(
        routes.map(({ name, configured, processed, available }) => [name, configured, processed, available]),
        [["all", true, 1, true]],
      );
      await until(async () => shaped(listedSources.output, await get("sources")).items[0]?.received === 1);
      const { items } = shaped(listedSources.output, await get("sources"));
      assert.deepEqual(
        items.map(({ name, path, secrets }) => [name, path, secrets]),
        [
          ["default", "/webhook", ["env:WEBHOOK_SECRET"]],
          ["shop", "/webhook/shop", ["env:SHOP_SECRET"]],
        ],
      );
    });

    test("tells where a changed configuration file is wrong, until it is right again", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      const file = join(server.dir, "authserve.yaml");
      const text = readFileSync(file, "utf8");
      const fault = async () => shaped(state.status.output, await get("status")).configFault;
      assert.equal(await fault(), null);
      writeFileSync(file, text.replace("retry:", "rety:"));
      const found = await until(fault);
      assert.match(found, /authserve\.yaml:4:[0-9]+ .*rety/);
      writeFileSync(file, text);
      await until(async () => (await fault()) === null);
    });

    test("lists failed jobs and those that wait, page by page", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      for (let n = 0; n < 3; n++) await deliver(server, { id: `evt_${n}`, type: "order.refused" });
      const failed = async (query = "") => shaped(jobs.listed.output, await get(`jobs?${query}`));
      await until(async () => (await failed()).items.length === 3);
      const [job] = (await failed()).items;
      assert.deepEqual(
        [job?.eventId, job?.source, job?.route, job?.status, job?.attempts, job?.lastError],
        ["evt_0", "default", "all", "failed", 2, "the target answered 500"],
      );
      assert.equal(job?.deadLetter?.reason, "attempt 2 of 2: the target answered 500");
      const first = await failed("limit=2");
      const second = await failed(`limit=2&cursor=${first.cursor}`);
      assert.deepEqual(
        [...first.items, ...second.items].map(({ eventId }) => eventId),
        ["evt_0", "evt_1", "evt_2"],
      );
      assert.deepEqual((await failed("route=other")).items, []);
      await server.run(["routes", "pause", "all"]);
      await deliver(server, event("evt_waits"));
      await until(async () => (await failed("status=queued")).items[0]?.eventId === "evt_waits");
      assertProblem(await get("jobs?status=processed"), 400, "validation_failed");
    });

    test("counts deliveries and attempts over time", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      await deliver(server, event("evt_1"));
      await deliver(server, event("evt_1"));
      await deliver(server, event("evt_2"), { "X-Signature": "00".repeat(32) });
      await deliver(server, { id: "evt_3", type: "order.refused" });
      const stats = async (query = "") => shaped(state.stats.output, await get(`stats?${query}`));
      await until(async () => {
        const { total } = await stats();
        return total.duplicate + total.refused + total.processed + total.deadLettered === 4;
      });
      const { step, items, total, sums } = await stats();
      assert.deepEqual(
        { ...total, latency: total.latency !== null },
        {
          received: 2,
          duplicate: 1,
          conflict: 0,
          repeat: 0,
          refused: 1,
          unrouted: 0,
          processed: 1,
          retried: 1,
          deadLettered: 1,
          latency: true,
        },
      );
      assert.deepEqual([step, items.length], ["hour", 25]);
      assert.deepEqual(
        sums.map(({ source, route, received, retried }) => [source, route, received, retried]),
        [
          ["default", "", 2, 0],
          ["default", "all", 0, 1],
        ],
      );
      const since = new Date(Date.now() - 3_600_000).toISOString();
      assert.equal((await stats(`since=${since}`)).step, "minute");
      assert.equal((await stats("source=shop")).total.received, 0);
      for (const query of [
        "since=2026-01-02&until=2026-01-01",
        "since=2020-01-01&step=minute",
        "since=2020-01-01&step=hour",
      ]) {
        assertProblem(await get(`stats?${query}`), 400, "validation_failed");
      }
    });

    test("lists alerts with their silences", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      await deliver(server, { id: "evt_1", type: "order.refused" });
      const alerts = async () => shaped(listedAlerts.output, await get("alerts")).items;
      const [alert] = await until(async () => ((await alerts()).length > 0 ? alerts() : null));
      assert.deepEqual([alert?.name, alert?.state, alert?.silencedUntil], ["AuthserveDeadLetters", "firing", null]);
      await server.run(["alerts", "silence", "DeadLetters", "--for", "1h"]);
      assert.ok(Date.parse(String((await alerts())[0]?.silencedUntil)) > Date.now());
    });

    test("groups dead letters by route and error", async (t) => {
      const { server, get } = await startAdmin(t, await settings(t));
      for (let n = 0; n < 3; n++) await deliver(server, { id: `evt_${n}`, type: "order.refused" });
      const groups = async () => shaped(jobs.errors.output, await get("jobs/errors"));
      await until(async () => (await groups()).items[0]?.count === 3);
      const { items, cursor } = await groups();
      assert.deepEqual(
        items.map(({ route, error, count, eventId }) => [route, error, count, eventId]),
        [["all", "the target answered 500", 3, "evt_2"]],
      );
      assert.equal(cursor, null);
      const ofRoute = async (path: string) => ((await get(path)).json as { items: unknown[] }).items.length;
      assert.deepEqual([await ofRoute("jobs/errors?route=all"), await ofRoute("jobs/errors?route=other")], [1, 0]);
      assert.deepEqual([await ofRoute("events?route=all&status=failed"), await ofRoute("events?route=other")], [3, 0]);
    });

    test("pauses and resumes a route", async (t) => {
      const { server, get, send } = await startAdmin(t, await settings(t));
      const change = async (action: string) => (await send(`routes/${action}`, { route: "all" })).json.changed;
      assert.deepEqual([await change("pause"), await change("pause")], [true, false]);
      await deliver(server, event("evt_1"));
      const [route] = shaped(state.status.output, await get("status")).routes;
      assert.ok(route?.pausedAt);
      assert.equal(route.handler, "http");
      assert.equal(await change("resume"), true);
      await until(async () => shaped(state.status.output, await get("status")).events.processed === 1);
      assertProblem(await send("routes/pause", { route: "nope" }), 404, "not_found");
    });

    test("pauses a route until a time, after which it is not paused", async (t) => {
      const { get, send } = await startAdmin(t, await settings(t));
      const pause = async () => shaped(state.status.output, await get("status")).routes[0];
      await send("routes/pause", { route: "all", forMs: 3_600_000 });
      const { pausedAt, pausedUntil } = (await pause()) ?? {};
      assert.equal(Date.parse(String(pausedUntil)) - Date.parse(String(pausedAt)), 3_600_000);
      await send("routes/pause", { route: "all", forMs: 1 });
      await until(async () => (await pause())?.pausedAt === null);
      assertProblem(await send("routes/pause", { route: "all", forMs: 0 }), 400, "validation_failed");
    });

    test("silences alerts, and ends silences", async (t) => {
      const { send } = await startAdmin(t, await settings(t));
      const silence = await send("alerts/silence", { name: "AuthserveDeadLetters", forMs: 60_000 });
      assert.ok(Date.parse(String(silence.json.until)) > Date.now());
      assert.equal((await send("alerts/silence", { name: "DiskLow", forMs: MAX_FOR_MS })).status, 200);
      assert.equal((await send("alerts/unsilence", { name: "DeadLetters" })).json.removed, 1);
      assert.equal((await send("alerts/unsilence", {})).json.removed, 1);
      for (const body of [{ name: "Nope", forMs: 1 }, { forMs: 0 }, { forMs: 1.5 }, { forMs: MAX_FOR_MS + 1 }, {}]) {
        assertProblem(await send("alerts/silence", body), 400, "validation_failed");
      }
    });

    test("shows who is logged in, and ends the session", async (t) => {
      const { get, send } = await startAdmin(t, await settings(t));
      const session = shaped(shownSession.output, await get("session"));
      assert.deepEqual([session.email, session.network], [EMAIL, "127.0.0.0/24"]);
      assert.deepEqual((await send("session/revoke", {})).json, { revoked: true });
      assertProblem(await get("session"), 401, "session_invalidated");
    });
  });
}
