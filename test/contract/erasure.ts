import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { ask, assertProblem, logIn, post } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SHOP_SECRET = "a secret of the tests";
/** What is planted in each place that keeps data of an event. */
const PERSON = "maria.planted@example.com";

type Body = Record<string, unknown>;
type Shown = { erased: { reason: string }; payload: string; routes: object[] };

/** A server with events of a person and of others, of which some have failed, and with refused deliveries of hers. */
async function startWithEvents(t: TestContext, env: Record<string, string>) {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  target.answer(({ body }, response) => response.writeHead(body.includes("refuse") ? 400 : 200).end(body));
  const dir = workingDir();
  writeFileSync(
    join(dir, "authserve.yaml"),
    `sources:
  shop: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], id: "body:id", keepRejected: {} }
routes:
  - { name: all, to: ${target.url}, retry: { delays: [1ms] }, orderBy: body.key, transform: { jsonata: "{ 'sent': $ }" } }
  - { name: trial, http: { url: "${target.url}" }, shadow: { of: all } }
`,
  );
  const server = await startServer({ dir, env: { SHOP_SECRET, ...env } });
  t.after(() => server[Symbol.asyncDispose]());
  const send = (body: Body, headers: Record<string, string> = {}) => {
    const text = JSON.stringify(body);
    const signed = { "X-Sig": signature(text, SHOP_SECRET).slice("sha256=".length) };
    const all = { "Content-Type": "application/json", ...signed, ...headers };
    return ask(server, "/webhook/shop", { method: "POST", body: text, headers: all });
  };
  for (let n = 0; n < 150; n++) {
    const isHers = n % 3 === 0;
    const filler = "x".repeat((n % 5) * 700);
    await send({ id: `e-${n}`, key: isHers ? PERSON : "other", email: isHers ? PERSON : "", n, filler });
  }
  await send({ id: "failed", email: PERSON, refuse: true, key: PERSON }, { "User-Agent": PERSON });
  await send({ id: "failed", email: PERSON, conflict: true });
  await send({ id: "e-0", key: PERSON, email: PERSON, n: 0, filler: "" }, { "X-Sig": "0".repeat(64) });
  await send({ id: "refused" }, { "X-Sig": "0".repeat(64), "User-Agent": PERSON });
  await until(async () => JSON.parse((await server.run(["events", "stats", "--json"])).stdout).queued === 0);
  return { server, send };
}

/** The files in a folder and below it that contain a text. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(text));
}

/**
 * What an erasure leaves in a store. `settings` are those of a server on it, and `placesWith` names what of the store
 * contains a text.
 */
export function erasureSuite(
  store: string,
  settings: (t: TestContext) => Promise<Record<string, string>>,
  placesWith: (server: Server, text: string) => Promise<string[]>,
): void {
  suite(`an erasure on ${store}`, () => {
    test("leaves no planted text anywhere in the store, and others' events as they are", async (t) => {
      const { server, send } = await startWithEvents(t, await settings(t));
      assert.notDeepEqual(await placesWith(server, PERSON), []);
      const erase = (...more: string[]) =>
        server.run(["events", "erase", "--search", PERSON, "--reason", "asked for", ...more, "--json"]);
      const dry = JSON.parse((await erase("--dry-run")).stdout);
      assert.deepEqual([dry.events.length, dry.held.length, dry.events[0].erasedAt], [51, 2, null]);

      const { code, stdout, stderr } = await erase();
      assert.equal(code, 0, stderr);
      const receipt = JSON.parse(stdout);
      assert.deepEqual([receipt.reason, receipt.events.length, receipt.held.length], ["asked for", 51, 2]);
      for (const { eventId, payloadSha256, receivedAt, erasedAt } of receipt.events) {
        assert.match(eventId, /^(?:e-\d+|failed)$/);
        assert.match(payloadSha256, /^[0-9a-f]{64}$/);
        assert.ok(receivedAt <= erasedAt);
      }
      assert.equal(receipt.remains, store === "SQLite" ? null : "dead_rows");
      assert.deepEqual(await placesWith(server, PERSON), []);

      assert.equal((await send({ id: "failed", email: PERSON, refuse: true, key: PERSON })).json.duplicate, true);
      assert.deepEqual(await placesWith(server, PERSON), []);
      assert.match((await server.run(["events", "show", "e-1"])).stdout, /"key":"other"/);
      assert.match((await server.run(["events", "show", "e-3"])).stdout, /erased .*asked for/);
    });

    test("has designed answers for what needs the content", async (t) => {
      const { server } = await startWithEvents(t, await settings(t));
      const headers = { Authorization: `Bearer ${await logIn(server)}` };
      const get = (path: string) => ask(server, `/admin/api/${path}`, { headers });
      const send = (path: string, body: object) => post(server, `/admin/api/${path}`, body, headers);
      const erased = await send("events/erase", { ids: ["failed", "e-3", "none"], reason: "  asked for " });
      assert.equal(erased.status, 200, erased.text);
      assert.deepEqual([erased.json.matched, erased.json.cursor], [2, null]);
      assert.deepEqual(erased.json.refused, [{ eventId: "none", reason: "there is no such event" }]);
      const { erased: shown, payload, routes } = (await get("events/failed")).json as Shown;
      assert.deepEqual([shown.reason, payload, routes], ["asked for", "", []]);
      assertProblem(await get("events/failed/payload"), 410, "event_erased");
      for (const force of [false, true]) {
        const { json } = await send("events/replay", { ids: ["failed"], force });
        assert.deepEqual(json.refused, [{ eventId: "failed", reason: "is erased" }]);
      }
      const again = await send("events/erase", { ids: ["failed"], reason: "again" });
      assert.deepEqual(again.json.refused, [{ eventId: "failed", reason: "is erased" }]);
      for (const [body, path] of [
        [{ reason: "x" }, ""],
        [{ filter: {}, reason: "x" }, "filter"],
        [{ ids: ["a"], reason: " " }, "reason"],
      ] as const) {
        const answer = await send("events/erase", body);
        assertProblem(answer, 400, "validation_failed");
        assert.match(answer.text, new RegExp(`"path":"${path}"`));
      }
      const byFilter = await send("events/erase", { filter: { search: PERSON }, reason: "asked for" });
      const { matched, held } = byFilter.json as { matched: number; held: object[] };
      assert.deepEqual([matched, held.length], [49, 2]);
      assert.deepEqual(await placesWith(server, PERSON), []);
    });
  });
}
