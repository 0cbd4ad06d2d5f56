import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { openDatabase } from "../../src/sqlite/database.ts";
import { ask, deliver } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { settled, show, stats } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

interface ListedRoute {
  name: string;
  status: string;
  queued: number;
  processed: number;
  failed: number;
}

/** Starts a server with these routes. */
function serve(routes: string, env: Record<string, string> = {}, dir = workingDir()): Promise<Server> {
  writeRoutes(dir, routes);
  return startServer({ dir, env: { RETRY_DELAY: "20ms", ...env } });
}

function writeRoutes(dir: string, routes: string): void {
  writeFileSync(join(dir, "authserve.yaml"), `routes:\n${routes}`);
}

async function listRoutes(server: Server): Promise<ListedRoute[]> {
  const { code, stdout, stderr } = await server.run(["routes", "list", "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as ListedRoute[];
}

const payload = (id: string, type: string, more: object = {}) => JSON.stringify({ id, type, ...more });

suite("routes", () => {
  test("each job of an event succeeds, retries and fails by itself, and has its own idempotency key", async () => {
    await using good = await startTarget();
    await using bad = await startTarget();
    bad.answer((_, response) => void response.writeHead(500).end("broken"));
    await using server = await serve(
      `  - { name: good, to: "${good.url}" }\n  - { name: bad, to: "${bad.url}", retry: { delays: [10ms, 20ms], jitter: 0 } }\n  - { name: other, types: [other], log: {} }\n`,
    );
    await deliver(server, payload("evt_1", "push"));
    for (const how of ["event_processed", "event_dead_lettered"]) await settled(server, "evt_1", how);
    const { jobs } = await show(server, "evt_1");
    assert.deepEqual(
      jobs.map(({ route, status, attempts }) => [route, status, attempts]),
      [
        ["bad", "failed", 3],
        ["good", "processed", 1],
      ],
    );
    const keys = (target: typeof good) => [
      ...new Set(target.received.map(({ headers }) => headers["idempotency-key"])),
    ];
    assert.deepEqual([keys(good), keys(bad)], [["good/default/evt_1"], ["bad/default/evt_1"]]);

    bad.answer((_, response) => void response.writeHead(204).end());
    assert.equal((await server.run(["events", "replay", "evt_1"])).code, 0);
    await until(() => server.log("event_processed").length === 2);
    assert.equal((await show(server, "evt_1")).status, "processed");
    assert.equal(good.received.length, 1, "the job that succeeded is not repeated");
    assert.equal(bad.received.at(-1)?.headers["x-replay"], "true");
  });

  test("an event that no route takes is unrouted, in lists and in counts", async () => {
    await using server = await serve("  - { name: a, types: [invoice.*], when: { livemode: true }, log: {} }\n");
    await deliver(server, payload("evt_1", "push"));
    await deliver(server, payload("evt_2", "invoice.paid", { livemode: false }));
    await deliver(server, payload("evt_3", "invoice.paid", { livemode: true }));
    await settled(server, "evt_3");
    await until(async () => /^authserve_events_unrouted 2$/m.test((await ask(server, "/metrics")).text));
    assert.equal((await stats(server)).processed, 1);
    const { stdout } = await server.run(["events", "list", "--status", "unrouted", "--json"]);
    assert.deepEqual(
      JSON.parse(stdout).map(({ eventId }: { eventId: string }) => eventId),
      ["evt_2", "evt_1"],
    );
    assert.equal(server.log("event_received").length, 1);
  });

  test("a paused route waits until it is resumed", async () => {
    await using server = await serve("  - { name: a, log: {} }\n", { WORKER_POLL_INTERVAL: "50ms" });
    assert.equal((await server.run(["routes", "pause", "a"])).code, 0);
    await deliver(server, payload("evt_1", "push"));
    const waiting = await until(async () => (await listRoutes(server)).find(({ queued }) => queued === 1));
    assert.equal(waiting.status, "paused");
    assert.equal(server.log("event_received").length, 0);
    assert.equal((await server.run(["routes", "resume", "a"])).code, 0);
    await server.logged("event_received");
    const typo = await server.run(["routes", "pause", "b"]);
    assert.deepEqual([typo.code, /There is no route "b"/.test(typo.stderr)], [2, true]);
  });

  test("jobs of a route that left the file wait, visibly, until it is back", async () => {
    await using target = await startTarget();
    target.answer((_, response) => void response.writeHead(503).end());
    const routes = `  - { name: a, to: "${target.url}", retry: { attempts: 100, delay: 10ms, maxDelay: 50ms } }\n`;
    await using server = await serve(routes);
    await deliver(server, payload("evt_1", "push"));
    await until(() => target.received.length > 0);
    writeRoutes(server.dir, "  - { name: b, log: {} }\n");
    await server.logged("route_gone");
    const gone = (await listRoutes(server)).find(({ name }) => name === "a");
    assert.deepEqual([gone?.status, gone?.queued], ["gone", 1]);
    await deliver(server, payload("evt_2", "push"));
    await server.logged("event_received");
    target.answer((_, response) => void response.writeHead(204).end());
    writeRoutes(server.dir, routes);
    await settled(server, "evt_1");
  });

  test("a route with a secret signs, a command and a module process the event", async () => {
    await using target = await startTarget();
    const dir = workingDir();
    writeFileSync(join(dir, "code.mjs"), "export default ({ json }) => 'got ' + json.id;");
    await using server = await serve(
      `  - { name: signed, http: { url: "${target.url}", secret: env:TARGET_SECRET } }\n  - { name: script, exec: { command: [sh, -c, "cat; env | grep -c -E 'SECRET|DEMO_PASSWORD' || true"] } }\n  - { name: code, module: { file: ./code.mjs } }\n`,
      { TARGET_SECRET: "a secret of the target's own" },
      dir,
    );
    const body = payload("evt_1", "push");
    await deliver(server, body);
    await until(() => server.log("event_processed").length === 3);
    const { jobs } = await show(server, "evt_1");
    const responses = jobs.map(({ route, history }) => [
      route,
      (history[0] as unknown as { response: string | null }).response,
    ]);
    assert.deepEqual(responses, [
      ["code", "got evt_1"],
      ["script", `${body}0\n`],
      ["signed", null],
    ]);
    const [received] = target.received;
    const verified = new Webhook("a secret of the target's own", { format: "raw" }).verify(
      String(received?.body),
      received?.headers as Record<string, string>,
    );
    assert.deepEqual(verified, JSON.parse(body));
  });

  test("a changed module is in use for the next event", async () => {
    const dir = workingDir();
    const code = (text: string) =>
      writeFileSync(join(dir, "code.mjs"), `export default (_, { log }) => log.info("${text}");`);
    code("first");
    await using server = await serve("  - { name: code, module: { file: ./code.mjs } }\n", {}, dir);
    await deliver(server, payload("evt_1", "push"));
    await server.logged("handler_log");
    code("second");
    await server.logged("config_reloaded");
    await deliver(server, payload("evt_2", "push"));
    await until(() => server.log("handler_log").some(({ message }) => message === "second"));
  });
});

suite("routes of one server", async () => {
  const targets = { hanging: await startTarget(), ordered: await startTarget(), blocked: await startTarget() };
  const good = await startTarget();
  const server = await serve(
    `  - { name: hanging, types: [hang], concurrency: 1, http: { url: "${targets.hanging.url}", timeout: 1h } }
  - { name: good, types: [hang], to: "${good.url}" }
  - name: ordered
    types: [ordered]
    http: { url: "${targets.ordered.url}", timeout: 1h }
    orderBy: customer
    concurrency: 20
    retry: { attempts: 50, delay: 1ms, maxDelay: 5ms }
  - { name: blocked, types: [blocked], to: "${targets.blocked.url}", orderBy: customer, retry: { giveUpOn: [400] } }
  - { name: rated, types: [rated], to: "${good.url}", rate: 20/s }
`,
    { WORKER_POLL_INTERVAL: "50ms" },
  );
  after(() => server[Symbol.asyncDispose]());
  for (const target of [...Object.values(targets), good]) after(() => target[Symbol.asyncDispose]());

  test("a target that hangs delays no other route", async () => {
    targets.hanging.answer(() => {});
    const ids = Array.from({ length: 50 }, (_, n) => `hang-${n}`);
    for (const id of ids) await deliver(server, payload(id, "hang"));
    await until(() => ids.every((id) => good.of(id).length === 1));
    assert.equal(targets.hanging.received.length, 1);
  });

  test("events of one key are forwarded one at a time, in order of arrival, and other keys do not wait", async () => {
    const customers = ["a", "b", "c"];
    const open: string[] = [];
    const together: string[] = [];
    const begun = new Set<string>();
    const allBegun = Promise.withResolvers<void>();
    targets.ordered.answer(async ({ body }, response) => {
      const { customer } = JSON.parse(String(body)) as { customer: string };
      if (open.includes(customer)) together.push(customer);
      open.push(customer);
      // The first event of each key is answered when those of the other keys have come.
      begun.add(customer);
      if (begun.size === customers.length) allBegun.resolve();
      await allBegun.promise;
      await delay(2);
      open.splice(open.indexOf(customer), 1);
      // Some attempts fail, and are retried before the next event of the key.
      response.writeHead(Math.random() < 0.3 ? 500 : 204).end();
    });
    const sent = customers.map((customer) => Array.from({ length: 15 }, (_, n) => `${customer}-${n}`));
    await Promise.all(
      sent.map(async (ids) => {
        for (const id of ids) await deliver(server, payload(id, "ordered", { customer: id[0] }));
      }),
    );
    for (const id of sent.flat()) await settled(server, id);
    assert.deepEqual(together, []);
    for (const ids of sent) {
      const forwarded = targets.ordered.received
        .map(({ headers }) => String(headers["x-event-id"]))
        .filter((id) => ids.includes(id));
      assert.deepEqual([...new Set(forwarded)], ids);
      const jumps = forwarded.slice(1).filter((id, index) => ids.indexOf(id) < ids.indexOf(forwarded[index] as string));
      assert.deepEqual(jumps, [], "no event again after a later one");
    }
  });

  test("a dead letter that blocks its key is discarded, and the later events go on", async () => {
    const target = targets.blocked;
    target.answer(
      ({ headers }, response) => void response.writeHead(headers["x-event-id"] === "blocks" ? 400 : 204).end(),
    );
    for (const id of ["blocks", "waits"]) await deliver(server, payload(id, "blocked", { customer: 1 }));
    await settled(server, "blocks", "event_dead_lettered");
    assert.deepEqual([(await show(server, "waits")).status, target.of("waits")], ["queued", []]);
    const args = ["events", "discard", "blocks", "--reason"];
    const { code, stdout } = await server.run([...args, "refunded by hand", "--json"]);
    assert.deepEqual([code, JSON.parse(stdout)], [0, { discarded: 1, refused: [] }]);
    await settled(server, "waits");
    const again = await server.run([...args, "again"]);
    assert.deepEqual([again.code, /blocks: is already processed or discarded/.test(again.stderr)], [1, true]);
  });

  test("a rate bounds the attempts of a route", async () => {
    const ids = Array.from({ length: 15 }, (_, n) => `rated-${n}`);
    for (const id of ids) await deliver(server, payload(id, "rated"));
    for (const id of ids) await settled(server, id);
    const database = openDatabase(String(server.env.DATA_DIR));
    const began = database.prepare("SELECT max(started_at) - min(started_at) FROM attempts WHERE route = 'rated'");
    const betweenMs = began.pluck().get() as number;
    database.close();
    // Two may begin at once.
    assert.ok(betweenMs >= 620, `15 attempts in ${betweenMs} ms`);
  });
});
