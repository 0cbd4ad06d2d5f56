import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { authserve, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { OTHER_JWT_SECRET } from "../../helpers/credentials.ts";
import { settings, startServer } from "../../helpers/server.ts";
import { list, settled } from "../../helpers/stored-events.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const dir = workingDir();
const run = (...args: string[]) => authserve(args, { dir });

test("help goes to standard output, with exit code 0", async () => {
  const lines = [["--help"], ["-h"], ["help"], ["events", "--help"], ["events", "list", "--help"], ["serve", "--help"]];
  await Promise.all(
    lines.map(async (args: string[]) => {
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual([code, stderr], [0, ""], args.join(" "));
      assert.match(stdout, /Usage: authserve/);
    }),
  );
});

test("help names every command", async () => {
  const { stdout } = await run("--help");
  for (const name of ["serve", "init", "hash-password", "events", "session"])
    assert.match(stdout, new RegExp(`^  ${name}\\b`, "m"));
  const events = await run("events", "--help");
  for (const name of ["list", "show", "replay", "stats", "send-test"]) {
    assert.match(events.stdout, new RegExp(`^  ${name}\\b`, "m"));
  }
});

test("--version prints the version of the package", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  const { code, stdout } = await run("--version");
  assert.deepEqual([code, stdout], [0, `${version}\n`]);
});

test("an unknown command or option, or no command, gives exit code 2 and a message on standard error", async () => {
  const lines = [
    ["nonsense"],
    ["--nonsense"],
    [],
    ["events"],
    ["session", "nonsense"],
    ["serve", "--nonsense"],
    ["serve", "x"],
  ];
  await Promise.all(
    lines.map(async (args: string[]) => {
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual([code, stdout], [2, ""], args.join(" "));
      assert.match(stderr, /Usage|--help/);
      assert.doesNotMatch(stderr, /\n\s+at /);
    }),
  );
});

test("help for an unknown command names it, with exit code 2", async () => {
  for (const args of [
    ["help", "bogus"],
    ["events", "help", "bogus"],
    ["help", "events", "bogus"],
    ["help", "serve", "bogus"],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.equal(stderr, "error: unknown command 'bogus'\n(see --help)\n");
  }
  assert.match((await run("help", "events")).stdout, /^Usage: authserve events \[/);
  assert.match((await run("help", "events", "list")).stdout, /^Usage: authserve events list /);
  assert.match((await run("events", "help", "list")).stdout, /^Usage: authserve events list /);
});

test("a reader that leaves early does not change the exit code", () => {
  for (const [args, code] of [
    ["doctor", 1],
    ["events replay nope --json", 1],
    ["events list", 0],
    ["licenses --full", 0],
  ] as const) {
    const script = `"$0" ${args} | true; exit "\${PIPESTATUS[0]}"`;
    const { status, stderr } = spawnSync("bash", ["-c", script, EXECUTABLE], {
      cwd: args === "doctor" ? dir : server.dir,
      env: { PATH: process.env.PATH, ...(args === "doctor" ? {} : server.env) },
      encoding: "utf8",
    });
    assert.equal(status, code, `${args}: ${stderr}`);
    assert.doesNotMatch(stderr, /EPIPE|\n\s+at /);
  }
});

test("an unwritable standard output gives exit code 1 and the reason", () => {
  const { stderr, status } = spawnSync("sh", ["-c", '"$0" --help > /dev/full', EXECUTABLE], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [1, "error: cannot write to standard output (ENOSPC)\n"]);
});

test("events send-test --json prints the response as data, also if it is an error", async () => {
  const taken = await server.run(["events", "send-test", "--id", "evt_json", "--json"]);
  assert.deepEqual([taken.code, taken.stderr], [0, ""]);
  const { url, status, answer } = JSON.parse(taken.stdout);
  assert.deepEqual([url, status], [`http://127.0.0.1:${server.port}/webhook`, 200]);
  assert.equal(JSON.parse(answer).eventId, "evt_json");
  const refused = await server.run(["events", "send-test", "--json"], { WEBHOOK_SECRET: "another secret" });
  assert.deepEqual([refused.code, JSON.parse(refused.stdout).status, refused.stderr], [1, 403, ""]);
});

test("help lists the commands in groups, and send-test has the options of send", async () => {
  const { stdout } = await server.run(["--help"]);
  const headings = ["Server:", "Events:", "Webhooks:", "Alerts:", "Login:", "Operation:", "Shell:"];
  assert.deepEqual(
    stdout.match(/^[A-Z][a-z]+:$/gm)?.filter((heading) => headings.includes(heading)),
    headings,
  );
  const sent = await server.run(["events", "send-test", "--source", "default", "--count", "2"]);
  assert.match(sent.stdout, /^2 sent in /);
});

test("sources presets lists those whose name has a text, and shows one by its name", async () => {
  const { stdout, stderr } = await server.run(["sources", "presets", "hub"]);
  const names = stdout.trim().split("\n").slice(1);
  assert.ok(names.length > 1 && names.every((line) => /hub/i.test(line)), stdout);
  assert.match(stderr, new RegExp(`^${names.length} presets: `));
  assert.match((await server.run(["sources", "presets", "github"])).stdout, /^name +github$/m);
  const none = await server.run(["sources", "presets", "githb"]);
  assert.deepEqual([none.code, none.stderr], [2, "error: There is no preset githb\n  hint: did you mean github?\n"]);
});

test("events send-test prints no control characters of a response", async () => {
  const { code, stdout } = await server.run(["events", "send-test", "--id", "evt_\u009b31m"]);
  assert.equal(code, 0);
  assert.match(stdout, /"eventId":"evt_\\u\{9b\}31m"/);
  assert.doesNotMatch(stdout, /[\u007f-\u009f]/);
});

test("a command that fails writes all of its output", async () => {
  const ids = Array.from({ length: 3000 }, (_, number) => `unknown-${number}`);
  const { code, stdout } = await server.run(["events", "replay", "--json", ...ids]);
  assert.equal(code, 1);
  const { refused } = JSON.parse(stdout) as { refused: { eventId: string }[] };
  assert.deepEqual(
    refused.map(({ eventId }) => eventId),
    ids,
  );
});

test("an unwritable standard error does not stop the server", async () => {
  const folder = workingDir();
  const served = startProgram("sh", ["-c", 'exec "$0" serve --init 2> /dev/full', EXECUTABLE], {
    dir: folder,
    env: settings(folder),
  });
  await until(() => served.stdout().includes("server_started"));
  assert.equal(served.child.exitCode, null);
  served.child.kill("SIGTERM");
  assert.deepEqual(await served.exited, { code: 0, signal: null });
});

test("a deleted working directory gives exit code 2 and a message", () => {
  const gone = join(dir, "gone");
  mkdirSync(gone);
  const script = 'rmdir "$PWD" && exec "$0" events list';
  const { stderr, status } = spawnSync("sh", ["-c", script, EXECUTABLE], { cwd: gone, encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /^error: The working directory cannot be read \(ENOENT\)\n {2}hint: change to the directory of \.env$/m,
  );
});

test("a command exits with 1 and the reason if the store is unavailable", async () => {
  const redis = { REDIS_HOST: "127.0.0.1", REDIS_PORT: "1" };
  const { code, stderr } = await server.run(["session", "show"], redis);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: Storage is not available; try again later \(ECONNREFUSED.*\)\n {2}hint: run authserve doctor/,
  );
});

test("a command in a folder without data gives exit code 2, and creates none", async () => {
  const lines = [
    ["events", "list"],
    ["events", "stats"],
    ["session", "show"],
    ["session", "revoke"],
  ];
  await Promise.all(
    lines.map(async (args: string[]) => {
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /DATA_DIR has no authserve\.db/);
    }),
  );
});

test("a command on the store needs only its settings, and refuses bad ones with exit code 2", async () => {
  const { DATA_DIR } = server.env;
  assert.equal((await authserve(["events", "list"], { dir, env: { DATA_DIR } })).code, 0);
  const bad = await authserve(["events", "list"], { dir, env: { DATA_DIR, REDIS_PORT: "bad-value" } });
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /REDIS_PORT/);
  assert.doesNotMatch(bad.stderr, /bad-value/);
});

test("send-test delivers a signed event with the given id and type to the running server", async () => {
  const sent = await server.run(["events", "send-test", "--id", "sent", "--type", "order.test"]);
  assert.equal(sent.code, 0, sent.stderr);
  assert.deepEqual(JSON.parse(sent.stdout), { received: true, duplicate: false, eventId: "sent" });
  await settled(server, "sent");
  const stored = (await list(server)).find(({ eventId }) => eventId === "sent");
  assert.deepEqual([stored?.type, stored?.status], ["order.test", "processed"]);
  const byUrl = await server.run(["events", "send-test", "--url", `${server.url}/webhook`]);
  assert.equal(byUrl.code, 0);
  assert.match(JSON.parse(byUrl.stdout).eventId, /^evt_test_/);
});

test("send-test exits with 1 if it is refused or finds no server, and with 2 without a secret", async () => {
  const url = `${server.url}/webhook`;
  const refused = await server.run(["events", "send-test", "--url", url], { WEBHOOK_SECRET: OTHER_JWT_SECRET });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /403/);
  const nowhere = await server.run(["events", "send-test", "--url", "http://127.0.0.1:1/webhook"]);
  assert.deepEqual([nowhere.code, nowhere.stdout], [1, ""]);
  assert.match(nowhere.stderr, /does not answer/);
  assert.equal((await server.run(["events", "send-test", "--url", "notaurl"])).code, 2);
  const without = await server.run(["events", "send-test", "--url", url], { WEBHOOK_SECRET: undefined });
  assert.equal(without.code, 2);
  assert.match(without.stderr, /WEBHOOK_SECRET is not set/);
});

test("commands work without a running server", async () => {
  await using first = await startServer();
  const { PORT: _, ...env } = settings(first.dir);
  const sent = await authserve(["events", "send-test", "--id", "offline", "--url", `${first.url}/webhook`], {
    dir,
    env,
  });
  assert.equal(sent.code, 0);
  await until(() => first.log("event_processed").length === 1);
  await first.stop();
  assert.deepEqual(
    (await list(first)).map(({ eventId, status }) => [eventId, status]),
    [["offline", "processed"]],
  );
  assert.equal((await first.run(["events", "stats", "--json"])).code, 0);
});

test("an excess argument is not printed: it may be a password or a token", async () => {
  const dir = workingDir();
  for (const command of [["hash-password"], ["token", "explain"]]) {
    const { code, stdout, stderr } = await authserve([...command, "correct-horse"], { dir });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^error: too many arguments for '[a-z-]+'\. Expected 0 arguments but got 1\.\n/);
    assert.doesNotMatch(stderr, /correct-horse/);
  }
});
