import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { deliver, event } from "../../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { startServer } from "../../helpers/server.ts";
import { list, settled } from "../../helpers/stored-events.ts";
import { startTarget } from "../../helpers/target.ts";
import { until } from "../../helpers/until.ts";

const target = await startTarget();
target.answer(({ headers }, response) => {
  const isBad = headers["x-event-id"] === "evt_2";
  response.writeHead(isBad ? 500 : 200).end(isBad ? "the stock\nis empty" : "");
});
const server = await startServer({ env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "1" } });
after(() => server[Symbol.asyncDispose]());
after(() => target[Symbol.asyncDispose]());

for (const id of ["evt_1", "evt_2", "evt_3"]) await deliver(server, event(id));
await settled(server, "evt_1");
await settled(server, "evt_2", "event_dead_lettered");
await settled(server, "evt_3");

const ids = async (...options: string[]) => (await list(server, ...options)).map(({ eventId }) => eventId);

test("events list filters by last error and by --until", async () => {
  assert.deepEqual(await ids("--error", "ANSWERED 500"), ["evt_2"]);
  assert.deepEqual(await ids("--error", "nothing like it"), []);
  assert.deepEqual(await ids("--until", "1h"), []);
  assert.deepEqual(await ids("--since", "1h", "--until", "0s"), ["evt_3", "evt_2", "evt_1"]);
});

test("events list filters by a route and the status of its jobs, and refuses a route that there is not", async () => {
  assert.deepEqual(await ids("--route", "default"), ["evt_3", "evt_2", "evt_1"]);
  assert.deepEqual(await ids("--route", "default", "--status", "failed", "--error", "500"), ["evt_2"]);
  const { code, stderr } = await server.run(["events", "list", "--route", "defalt"]);
  assert.deepEqual([code, stderr], [2, 'error: There is no route "defalt"\n  hint: did you mean default?\n']);
});

test("events list continues at the cursor that it printed", async () => {
  const first = await server.run(["events", "list", "--limit", "2"]);
  const [, cursor = ""] = /--cursor (\d+)\n$/.exec(first.stderr) ?? [];
  assert.deepEqual(await ids("--limit", "2", "--cursor", cursor), ["evt_1"]);
  assert.equal((await server.run(["events", "list", "--limit", "2", "--cursor", cursor])).stderr, "");
});

test("events list reports on standard error that no events match", async () => {
  const { stdout, stderr } = await server.run(["events", "list", "--type", "nothing"]);
  assert.deepEqual([stdout, stderr], ["", "No events match.\n"]);
});

test("events list shows relative times, or exact ones with --utc", async () => {
  assert.match((await server.run(["events", "list"])).stdout, /^RECEIVED .*\n\d+ (?:s|min) ago +processed/);
  assert.match((await server.run(["events", "list", "--utc"])).stdout, /\n\d{4}-\d\d-\d\dT[0-9:.]+Z +processed/);
});

test("events list colours a status on a terminal, and not with NO_COLOR", async () => {
  const shown = async (env: Record<string, string>) => {
    const line = ["-qec", `${EXECUTABLE} events list`, "/dev/null"];
    const command = startProgram("script", line, { dir: server.dir, env: { ...server.env, TERM: "xterm", ...env } });
    await command.exited;
    return command.stdout();
  };
  assert.ok((await shown({})).includes("\u001b[31mfailed"));
  assert.ok(!(await shown({ NO_COLOR: "1" })).includes("\u001b["));
});

test("events list --follow goes on with new events, oldest first", async () => {
  const command = startProgram(EXECUTABLE, ["events", "list", "--follow", "--json", "--limit", "1"], server);
  await until(() => command.stdout().includes("evt_3"));
  for (const id of ["evt_4", "evt_5"]) await deliver(server, event(id));
  await until(() => command.stdout().includes("evt_5"));
  command.child.kill("SIGINT");
  await command.exited;
  const lines = command.stdout().trim().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { eventId: string }).eventId),
    ["evt_3", "evt_4", "evt_5"],
  );
});

test("events show has each attempt with the target's response", async () => {
  const { stdout } = await server.run(["events", "show", "evt_2"]);
  assert.match(
    stdout,
    /\n {2}\d+ (?:s|min) ago {2}attempt 1 {2}\d+ ms {2}failed {2}the target answered 500\n {4}> the stock\n {4}> is empty\n/,
  );
  assert.match(stdout, /\n {2}\d+ (?:s|min) ago {2}dead letter {2}attempt 1 of 1: the target answered 500\n/);
  const json = JSON.parse((await server.run(["events", "show", "evt_2", "--json"])).stdout);
  assert.equal(json.jobs[0].history[0].response, "the stock\nis empty");
  assert.equal(json.jobs[0].history[0].responseStatus, 500);
  assert.match(
    (await server.run(["events", "show", "evt_1"])).stdout,
    /attempt 1 {2}\d+ ms {2}succeeded {2}with 200\n/,
  );
});

test("events show says why the routes of a file do not take the event", async () => {
  const config = join(server.dir, "other.yaml");
  writeFileSync(
    config,
    "routes:\n  - { name: big, when: { data.amount: { gte: 10 } }, log: {} }\n  - { name: all, log: {} }\n",
  );
  const { stdout } = await server.run(["events", "show", "evt_2", "--config", config]);
  assert.match(stdout, /\nnot by +big: when data\.amount is missing, expected gte 10\n/);
  assert.match(stdout, /\nnot by +all: it would take the event now/);
  const { routes } = JSON.parse((await server.run(["events", "show", "evt_2", "--json", "--config", config])).stdout);
  assert.deepEqual(routes[0], { route: "big", unmet: "when data.amount", expected: "gte 10", found: null });
});

test("completion gets the newest ids, one per line", async () => {
  assert.match((await server.run(["event-ids"])).stdout, /^(?:evt_\d\n)+$/);
});
