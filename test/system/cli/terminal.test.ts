import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deliver } from "../../helpers/client.ts";
import { EXECUTABLE, runProgram } from "../../helpers/command.ts";
import { startServer } from "../../helpers/server.ts";
import { list, settled } from "../../helpers/stored-events.ts";
import { startTarget } from "../../helpers/target.ts";

const ID = "evil\u001b[2J\u001b]0;owned\u0007\r\n\u009b31m\u202eid\u2028";

const target = await startTarget();
target.answer((_, response) => void response.writeHead(500).end());
const server = await startServer({ env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "1" } });
after(() => server[Symbol.asyncDispose]());
after(() => target[Symbol.asyncDispose]());

await deliver(server, { id: ID, type: `type${ID}`, note: ID }, { "User-Agent": "agent\u009b31m" });
await settled(server, ID, "event_dead_lettered");

// The control characters except for the line end: C0, DEL and C1.
const CONTROL = /[^\P{Cc}\n]/u;
// Characters that change how a line is displayed.
const DISGUISE = /[\u202a-\u202e\u2066-\u2069\u2028\u2029]/;

for (const args of [
  ["events", "list"],
  ["events", "list", "--json"],
  ["events", "show", ID],
  ["events", "show", ID, "--json"],
  ["events", "show", `${ID}missing`],
  ["events", "replay", `${ID}missing`],
  ["events", "replay", `${ID}missing`, "--json"],
]) {
  test(`${args.join(" ").replace(ID, "ID")} prints no control characters of an event`, async () => {
    const { stdout, stderr } = await server.run(args);
    assert.ok((stdout + stderr).includes("evil"));
    assert.doesNotMatch(stdout + stderr, CONTROL);
    if (!args.includes("--json")) assert.doesNotMatch(stdout + stderr, DISGUISE);
  });
}

test("JSON has the exact id", async () => {
  assert.equal((await list(server))[0]?.eventId, ID);
});

test("the error for an escaped id names the command that prints exact ids", async () => {
  const shown = await server.run(["events", "show", "a\\u{1b}b"]);
  assert.equal(shown.code, 1);
  assert.match(shown.stderr, /There is no event a\\u\{1b\}b\n {2}hint: run authserve events list --json/);
  const plain = await server.run(["events", "show", "missing"]);
  assert.match(plain.stderr, /run authserve events list to see ids\n$/);
});

test("the log has one line per entry and no control characters of an event", () => {
  assert.doesNotMatch(server.stdout(), CONTROL);
  assert.ok(server.log("event_dead_lettered").every(({ eventId }) => eventId === ID));
});

test("show prints a payload unchanged, line by line, but without control characters", async () => {
  const payload = `{\r\n\t"id": "pretty",\n  "type": "fails",\n  "note": "\u009b31m \u202e \u2028",\r  "last": 1\n}`;
  const lines = [
    "{",
    '\t"id": "pretty",',
    '  "type": "fails",',
    '  "note": "\\u{9b}31m \\u{202e} \\u{2028}",',
    '  "last": 1',
    "}",
  ];
  await deliver(server, payload);
  const piped = await server.run(["events", "show", "pretty"]);
  assert.deepEqual(piped.stdout.split("\n").slice(-7), [...lines, ""]);
  const command = `${EXECUTABLE} events show pretty`;
  const { stdout } = await runProgram("script", ["-qec", command, "/dev/null"], { dir: server.dir, env: server.env });
  // The terminal turns each line end into \r\n.
  assert.deepEqual(stdout.split("\r\n").slice(-7), [...lines, ""]);
});
