import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { deliver } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { list, show, stats } from "../helpers/stored-events.ts";
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

const statusOf = async (server: Server, eventId: string) =>
  (await list(server)).find((event) => event.eventId === eventId)?.status;

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
    await until(async () => (await statusOf(server, "evt_1")) === "failed");
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
    await until(async () => (await statusOf(server, "evt_1")) === "processed");
    assert.equal(good.received.length, 1, "the job that succeeded is not repeated");
    assert.equal(bad.received.at(-1)?.headers["x-replay"], "true");
  });

  test("an event that no route takes is processed and counted as unrouted", async () => {
    await using server = await serve("  - { name: a, types: [invoice.*], when: { livemode: true }, log: {} }\n");
    await deliver(server, payload("evt_1", "push"));
    await deliver(server, payload("evt_2", "invoice.paid", { livemode: false }));
    await deliver(server, payload("evt_3", "invoice.paid", { livemode: true }));
    await until(async () => (await stats(server)).processed === 3);
    assert.equal((await stats(server)).unrouted, 2);
    assert.equal(server.log("event_received").length, 1);
  });

  test("a target that hangs delays no other route", async () => {
    await using good = await startTarget();
    await using hanging = await startTarget();
    hanging.answer(() => {});
    await using server = await serve(
      `  - { name: hanging, concurrency: 1, http: { url: "${hanging.url}", timeout: 1h } }\n  - { name: good, to: "${good.url}" }\n`,
      { SHUTDOWN_TIMEOUT: "0s" },
    );
    for (let n = 0; n < 50; n++) await deliver(server, payload(`evt_${n}`, "push"));
    await until(() => good.received.length === 50);
    assert.equal(hanging.received.length, 1);
  });

  test("events of one key are forwarded one at a time, in order of arrival, and other keys do not wait", async () => {
    await using target = await startTarget();
    let open = 0;
    let mostOpen = 0;
    target.answer((_, response) => {
      mostOpen = Math.max(mostOpen, ++open);
      setTimeout(() => {
        open--;
        // Some attempts fail, and are retried before the next event of the key.
        response.writeHead(Math.random() < 0.3 ? 500 : 204).end();
      }, 5);
    });
    await using server = await serve(
      `  - { name: ordered, to: "${target.url}", orderBy: customer, concurrency: 20, retry: { attempts: 50, delay: 1ms, maxDelay: 5ms } }\n`,
    );
    const sent = ["a", "b", "c"].map((customer) => Array.from({ length: 15 }, (_, n) => `${customer}-${n}`));
    await Promise.all(
      sent.map(async (ids) => {
        for (const id of ids) await deliver(server, payload(id, "push", { customer: id[0] }));
      }),
    );
    await until(async () => (await stats(server)).processed === 45, 20_000);
    for (const ids of sent) {
      const forwarded = target.received
        .map(({ headers }) => String(headers["x-event-id"]))
        .filter((id) => ids.includes(id));
      assert.deepEqual([...new Set(forwarded)], ids);
      const jumps = forwarded.slice(1).filter((id, index) => ids.indexOf(id) < ids.indexOf(forwarded[index] as string));
      assert.deepEqual(jumps, [], "no event again after a later one");
    }
    assert.ok(mostOpen > 1 && mostOpen <= 3, `${mostOpen} at once`);
  });

  test("a dead letter that blocks its key is discarded, and the later events go on", async () => {
    await using target = await startTarget();
    target.answer(({ headers }, response) => void response.writeHead(headers["x-event-id"] === "a" ? 400 : 204).end());
    await using server = await serve(
      `  - { name: a, to: "${target.url}", orderBy: customer, retry: { giveUpOn: [400] } }\n`,
      { WORKER_POLL_INTERVAL: "50ms" },
    );
    for (const id of ["a", "b"]) await deliver(server, payload(id, "push", { customer: 1 }));
    await until(async () => (await statusOf(server, "a")) === "failed");
    assert.deepEqual([await statusOf(server, "b"), target.of("b")], ["queued", []]);
    const { code, stdout } = await server.run(["events", "discard", "a", "--reason", "refunded by hand", "--json"]);
    assert.deepEqual([code, JSON.parse(stdout)], [0, { discarded: 1, refused: [] }]);
    await until(async () => (await statusOf(server, "b")) === "processed");
    const again = await server.run(["events", "discard", "a", "--reason", "again"]);
    assert.deepEqual([again.code, /a: is already processed or discarded/.test(again.stderr)], [1, true]);
  });

  test("a paused route waits until it is resumed", async () => {
    await using server = await serve("  - { name: a, log: {} }\n", { WORKER_POLL_INTERVAL: "50ms" });
    assert.equal((await server.run(["routes", "pause", "a"])).code, 0);
    await deliver(server, payload("evt_1", "push"));
    await until(async () => (await listRoutes(server))[0]?.queued === 1);
    assert.equal((await listRoutes(server))[0]?.status, "paused");
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
    await until(async () => (await statusOf(server, "evt_1")) === "processed", 10_000);
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
    await until(async () => ((await statusOf(server, "evt_1")) ?? "queued") !== "queued", 10_000);
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
    await server.logged("handler_log", 10_000);
    code("second");
    await server.logged("config_reloaded");
    await deliver(server, payload("evt_2", "push"));
    await until(() => server.log("handler_log").some(({ message }) => message === "second"), 10_000);
  });

  test("a rate bounds the attempts of a route", async () => {
    await using target = await startTarget();
    await using server = await serve(`  - { name: a, to: "${target.url}", rate: 20/s }\n`);
    for (let n = 0; n < 15; n++) await deliver(server, payload(`evt_${n}`, "push"));
    await until(() => target.received.length === 15, 10_000);
    const [first, last] = [target.received[0]?.at ?? 0, target.received.at(-1)?.at ?? 0];
    // Two may begin at once.
    assert.ok(last - first >= 620, `15 attempts in ${last - first} ms`);
  });
});
