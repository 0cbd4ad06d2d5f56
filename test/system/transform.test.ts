import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deliver, event, logIn, post } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { settled, show } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("a retry, a restart with another expression and a replay send the same bytes, until they are made anew", async () => {
  const dir = workingDir();
  await using target = await startTarget();
  const configure = (expression: string) =>
    writeFileSync(
      join(dir, "authserve.yaml"),
      `routes:
  - name: chat
    transform: { jsonata: "${expression}" }
    retry: { attempts: 100, delay: 1s, maxDelay: 1s }
    http: { url: "${target.url}", method: PUT, headers: { Authorization: "Bearer \${env:TOKEN}" } }
`,
    );
  const env = { TOKEN: "a token of the tests", FORWARD_URL: undefined };
  target.answer((_, response) => response.writeHead(500).end());
  configure("{ 'id': $.id, 'big': $.big, 'once': $random() }");
  const first = await startServer({ dir, env });
  const body = JSON.stringify(event("evt_1")).replace("}", ',"big":12345678901234567890}');
  assert.equal((await deliver(first, body)).status, 200);
  await until(() => target.received.length >= 2);
  await first.kill();

  configure("'changed ' & $random()");
  target.answer((_, response) => response.writeHead(204).end());
  await using second = await startServer({ dir, env });
  await settled(second, "evt_1");
  const attempts = target.received.length;
  await second.run(["events", "replay", "evt_1", "--force"]);
  await until(() => target.received.length === attempts + 1);
  const sent = new Set(target.received.map(({ body }) => body.toString()));
  assert.equal(sent.size, 1);
  assert.match([...sent].join(), /^\{"id":"evt_1","big":12345678901234567890,"once":0\.\d+\}$/);
  assert.equal(target.received[0]?.headers.authorization, "Bearer a token of the tests");
  assert.equal(target.received[0]?.headers["content-type"], "application/json");

  await until(async () => (await second.run(["events", "list", "--status", "processed"])).stdout.includes("evt_1"));
  await second.run(["events", "replay", "evt_1", "--force", "--transform"]);
  await until(() => target.received.length === attempts + 2);
  const anew = target.received.at(-1)?.body.toString() ?? "";
  assert.match(anew, /^changed 0/);

  await until(async () => (await second.run(["events", "list", "--status", "processed"])).stdout.includes("evt_1"));
  const headers = { Authorization: `Bearer ${await logIn(second)}` };
  await post(second, "/admin/api/events/replay", { ids: ["evt_1"], force: true, transform: true }, headers);
  await until(() => target.received.length === attempts + 3);
  assert.match(target.received.at(-1)?.body.toString() ?? "", /^changed 0/);
  assert.notEqual(target.received.at(-1)?.body.toString(), anew);
});

test("routes test shows what a changed file would do with stored events, with an event and with a file", async () => {
  const dir = workingDir();
  await using target = await startTarget();
  const write = (name: string, routes: string) => writeFileSync(join(dir, name), `routes:\n${routes}\n`);
  write("authserve.yaml", `  - { name: all, to: "${target.url}" }`);
  await using server = await startServer({ dir, env: { FORWARD_URL: undefined } });
  for (const id of ["evt_1", "evt_2"]) assert.equal((await deliver(server, event(id, { amount: 5 }))).status, 200);
  await until(() => target.received.length === 2);
  write(
    "new.yaml",
    `  - { name: all, when: { id: evt_1 }, transform: { jsonata: "'id ' & id" }, to: "${target.url}" }`,
  );

  const run = async (...args: string[]) => {
    const { stdout, code, stderr } = await server.run([
      "routes",
      "test",
      ...args,
      "--config",
      join(dir, "new.yaml"),
      "--json",
    ]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const { samples, routes, ...counts } = await run("all", "--since", "1h");
  assert.deepEqual(counts, { matched: 1, unmatched: 1, changed: 2 });
  assert.deepEqual(routes, [{ route: "all", matched: 1, unmatched: 1, changed: 2, failed: 0 }]);
  assert.deepEqual(
    samples.map(({ eventId, change, found, sends }: Record<string, unknown>) => [eventId, change, found, sends]),
    [
      ["evt_1", "body", null, { contentType: "text/plain; charset=utf-8", bytes: 8, body: "id evt_1" }],
      ["evt_2", "left", '"evt_2"', null],
    ],
  );
  assert.equal((await run("--event", "evt_2")).unmatched, 1);
  writeFileSync(join(dir, "body.json"), '{"id":"evt_1","type":"push"}');
  assert.equal((await run("--file", join(dir, "body.json"), "--source", "default")).samples[0].sends.body, "id evt_1");
  assert.equal(target.received.length, 2);
});

test("an event that is too costly for an expression is a dead letter that says so, and a replay evaluates anew", async () => {
  const dir = workingDir();
  await using target = await startTarget();
  const configure = (expression: string) =>
    writeFileSync(
      join(dir, "authserve.yaml"),
      `routes:\n  - { name: chat, transform: { jsonata: "${expression}" }, to: "${target.url}" }\n`,
    );
  configure("($f := function($n){ $f($n + 1) }; $f(0))");
  const env = { FORWARD_URL: undefined };
  const first = await startServer({ dir, env });
  assert.equal((await deliver(first, event("evt_1"))).status, 200);
  const failed = async () => (await show(first, "evt_1")).jobs[0];
  await until(async () => (await failed())?.status === "failed");
  const { attempts, deadLetter } = (await failed()) ?? {};
  assert.deepEqual(
    [attempts, deadLetter?.reason, target.received.length],
    [1, "attempt 1, not retried: the transformation failed: the expression takes over 1000 ms", 0],
  );
  await first.kill();

  configure("'id ' & id");
  await using second = await startServer({ dir, env });
  assert.equal((await second.run(["events", "replay", "evt_1"])).code, 0);
  await until(() => target.received.length === 1);
  assert.equal(target.received[0]?.body.toString(), "id evt_1");
});
