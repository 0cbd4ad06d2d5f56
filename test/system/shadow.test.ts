import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as v from "valibot";
import * as shadows from "../../src/operations/shadows.ts";
import { ask, deliver, event, logIn, post } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { startServer } from "../helpers/server.ts";
import { type ForwardTarget, startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** Answers with the total of the order, and an id that is never the same. */
function answerTotal(target: ForwardTarget, totalOf: (amount: number) => number): void {
  let requests = 0;
  target.answer(({ body }, response) => {
    const { amount } = JSON.parse(String(body)) as { amount: number };
    requests++;
    const status = amount === 500 ? 500 : 200;
    response.writeHead(status).end(JSON.stringify({ requestId: requests, total: totalOf(amount), ok: true }));
  });
}

test("a shadow finds the event whose answer differs, and changes nothing of events and jobs", async () => {
  const dir = workingDir();
  await using present = await startTarget();
  await using next = await startTarget();
  answerTotal(present, (amount) => amount * 2);
  // The planted difference.
  answerTotal(next, (amount) => (amount === 7 ? 15 : amount * 2));
  writeFileSync(
    join(dir, "authserve.yaml"),
    `routes:
  - name: billing
    transform: { jsonata: "{ 'amount': amount, 'made': $random() }" }
    retry: { delays: [1ms, 1ms] }
    to: ${present.url}
  - { name: billing-next, to: ${next.url}, shadow: { of: billing, ignore: [requestId] } }
`,
  );
  await using server = await startServer({ dir, env: { FORWARD_URL: undefined } });
  const headers = { Authorization: `Bearer ${await logIn(server)}` };
  const read = async <Schema extends v.GenericSchema>(path: string, schema: Schema) =>
    v.parse(schema, (await ask(server, `/admin/api/${path}`, { headers })).json);
  const shadow = async () => (await read("shadows", shadows.listed.output)).items[0];
  await deliver(server, event("evt_other", { amount: 1 }));
  await until(async () => (await shadow())?.same === 1);
  for (const amount of [6, 7, 500]) await deliver(server, event(`evt_${amount}`, { amount }));
  await until(async () => next.received.length === 4 && (await shadow())?.different === 1);
  await until(async () => (await shadow())?.same === 3);
  assert.deepEqual(await shadow(), {
    ...{ name: "billing-next", of: "billing", ignore: ["requestId"], target: next.url },
    ...{ same: 3, different: 1, failed: 0, skipped: 0 },
  });

  const { items } = await read("shadows/differences?name=billing-next", shadows.differences.output);
  assert.deepEqual(
    items.map(({ at: _, ...difference }) => difference),
    [{ source: "default", eventId: "evt_7", type: "order.paid", place: "body total", expected: "14", found: "15" }],
  );
  const listed = await server.run(["routes", "shadow", "billing-next", "--json"]);
  assert.deepEqual(JSON.parse(listed.stdout).differences, items);
  assert.match((await server.run(["routes", "shadow"])).stdout, /billing-next +billing +3 +1 +0 +0 /);
  assert.match(
    (await server.run(["routes", "shadow", "billing-next"])).stdout,
    /evt_7 +order.paid +body total +14 +15/,
  );

  // The same bytes, once for each event, also where the route has tried several times.
  assert.equal(present.of("evt_500").length, 3);
  for (const id of ["evt_7", "evt_500"]) {
    assert.deepEqual(
      next.of(id).map(({ body }) => String(body)),
      [String(present.of(id)[0]?.body)],
    );
    assert.equal(next.of(id)[0]?.headers["idempotency-key"], `billing-next/default/${id}`);
  }
  const shown = JSON.parse((await server.run(["events", "show", "evt_7", "--json"])).stdout);
  assert.deepEqual([shown.status, shown.attempts], ["processed", 1]);
  assert.deepEqual(
    shown.jobs.map(({ route }: { route: string }) => route),
    ["billing"],
  );
  assert.ok(!JSON.stringify(shown).includes("billing-next"));
  const routes = JSON.parse((await server.run(["routes", "list", "--json"])).stdout);
  assert.deepEqual(
    routes.map(({ name, processed, failed }: Record<string, unknown>) => [name, processed, failed]),
    [["billing", 3, 1]],
  );
  const stats = JSON.parse((await server.run(["events", "stats", "--json"])).stdout);
  assert.deepEqual([stats.processed, stats.failed], [3, 1]);
  const metrics = (await ask(server, "/metrics")).text;
  assert.match(metrics, /authserve_shadow_comparisons_total\{route="billing-next",outcome="different"\} 1/);

  assert.deepEqual((await post(server, "/admin/api/shadows/reset", { name: "billing-next" }, headers)).json, {
    changed: true,
  });
  next.answer((_, response) => response.socket?.destroy());
  await server.run(["events", "replay", "evt_500"]);
  await until(async () => (await shadow())?.failed === 1);
  const file = join(workingDir(), "token");
  writeFileSync(file, (await server.run(["tokens", "create", "x", "--scope", "events:read", "events:write"])).stdout);
  const reset = ["routes", "shadow", "billing-next", "--reset", "--server", server.url, "--token-file", file];
  for (const said of [/^The comparisons of billing-next are counted anew\./, /^billing-next has no comparisons\./])
    assert.match((await authserve(reset, { dir: server.dir, env: {} })).stderr, said);
  assert.equal((await post(server, "/admin/api/shadows/reset", { name: "billing" }, headers)).status, 404);
});

// envoyproxy/envoy#18364 and istio/istio#51002: large requests are not mirrored. apache/apisix#6536: a mirror that is
// slow keeps the next requests waiting.
test("a large event comes to a shadow as it came to the route, and a shadow that hangs delays no event", async () => {
  const dir = workingDir();
  await using present = await startTarget();
  await using next = await startTarget();
  next.answer(() => {});
  writeFileSync(
    join(dir, "authserve.yaml"),
    `routes:
  - { name: billing, to: ${present.url} }
  - { name: billing-next, to: ${next.url}, concurrency: 1, shadow: { of: billing } }
`,
  );
  await using server = await startServer({
    dir,
    env: { FORWARD_URL: undefined, WEBHOOK_BODY_LIMIT: "12m", HANDLER_TIMEOUT: "1h" },
  });
  const large = event("evt_large", { text: "x".repeat(10_000_000) });
  assert.equal((await deliver(server, large)).status, 200);
  await until(() => next.received.length === 1);
  assert.deepEqual(next.received[0]?.body, present.received[0]?.body);
  for (let n = 0; n < 20; n++) await deliver(server, event(`evt_${n}`, { amount: 1 }));
  await until(() => present.received.length === 21);
  assert.equal(next.received.length, 1);
});
