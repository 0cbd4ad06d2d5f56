import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { OperatorError } from "../../../src/errors.ts";
import { deliver, event, logIn, me } from "../../helpers/client.ts";
import { authserve, type Command, EXECUTABLE, type Finished, startProgram } from "../../helpers/command.ts";
import { startServer } from "../../helpers/server.ts";
import { list } from "../../helpers/stored-events.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";
import { runInFolder } from "../../selftest/crash/folder.ts";

interface Place {
  dir: string;
  env: Record<string, string | undefined>;
}

const start = (place: Place, ...options: string[]) =>
  startProgram(EXECUTABLE, ["selftest", "crash", ...options], place);

/** Starts servers, so it may take longer than other commands. */
async function finished(command: Command): Promise<Finished> {
  const exit = await command.exited;
  return { ...exit, stdout: command.stdout(), stderr: command.stderr() };
}

const NO_FAULTS = { lost: 0, unexpected: 0, notSettledOnce: 0, outOfOrder: 0, logouts: 0, damage: 0 };

test("selftest crash loses nothing, removes its folder, and does not disturb the server on its DATA_DIR", async () => {
  await using server = await startServer();
  const token = await logIn(server);
  const files = () => readdirSync(server.env.DATA_DIR ?? "").sort();
  const before = files();
  const { code, stdout, stderr } = await finished(start(server, "--rounds", "3", "--json"));
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  const { sent, acknowledged, stored, sessions, seconds, examples, ...rest } = JSON.parse(stdout);
  assert.deepEqual(rest, { passed: true, rounds: 3, ...NO_FAULTS, folder: null });
  assert.ok(acknowledged > 0 && acknowledged <= stored && stored <= sent, stdout);
  assert.ok(seconds > 0 && sessions <= 3);
  assert.deepEqual(Object.values(examples).flat(), []);

  assert.deepEqual(files(), before);
  assert.equal((await me(server, token)).status, 200);
  assert.equal((await deliver(server, event("evt_after"))).status, 200);
  assert.deepEqual(
    (await list(server)).map(({ eventId }) => eventId),
    ["evt_after"],
  );
});

test("selftest crash needs no server, no database and no settings, and reads no authserve.yaml", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), "routes: [{ name: other, log: {} }]");
  const { code, stdout, stderr } = await finished(start({ dir, env: {} }, "--rounds", "1"));
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^every acknowledged event is stored +[1-9][0-9]* +0$/m);
  assert.match(stdout, /^an app is told of the end of each session +[01] +0$/m);
  assert.match(stderr, /^Nothing acknowledged was lost \(kills: 1, events sent: [0-9]+, [0-9.]+ s\)\.\n$/);
  assert.deepEqual(readdirSync(join(dir, "data")), []);
});

/** The processes that work in a folder. */
function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^[0-9]+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

const onLinux = process.platform === "linux" ? false : "it needs /proc";

suite("selftest crash leaves no folder and no process", { skip: onLinux }, () => {
  for (const [signal, when, isThen] of [
    ["SIGINT", "while the first server starts", () => true],
    ["SIGTERM", "under load", (folder: string) => existsSync(join(folder, "data/server.json"))],
  ] as const) {
    test(`when ${signal} ends it ${when}`, async () => {
      const dir = workingDir();
      const command = start({ dir, env: {} }, "--rounds", "1000");
      const data = join(dir, "data");
      const folder = () => join(data, readdirSync(data)[0] ?? "");
      await until(() => existsSync(data) && processesIn(data).length > 0 && isThen(folder()));
      assert.equal(statSync(folder()).mode & 0o777, 0o700);
      command.child.kill(signal);
      assert.deepEqual(await command.exited, { code: null, signal });
      assert.deepEqual([readdirSync(data), processesIn(data), command.stderr()], [[], [], ""]);
    });
  }
});

test("selftest crash shows the log of a server that does not start, and keeps the folder", async () => {
  const dir = workingDir();
  // The launcher of a checkout needs programs in PATH.
  const main = join(import.meta.dirname, "../../../src/cli/main.ts");
  const command = startProgram(process.execPath, [main, "selftest", "crash"], { dir, env: { PATH: "/nowhere" } });
  const { code, stdout, stderr } = await finished(command);
  const [folder = ""] = readdirSync(join(dir, "data"));
  assert.deepEqual([code, stdout], [1, ""]);
  const [first, ...lines] = stderr.split("\n");
  assert.equal(first, `The folder of the test is kept: ${join(dir, "data", folder)}`);
  assert.equal(lines[0], "error: The server of the test did not start (exit code 1). Its log ends with:");
  assert.match(stderr, /^ {2}authserve: dependencies are not installed/m);
});

test("selftest crash refuses rounds that are no number, and a DATA_DIR that it cannot write", async () => {
  const dir = workingDir();
  const rounds = await authserve(["selftest", "crash", "--rounds", "0"], { dir });
  const remedy = "give a whole number from 1 to 999999";
  assert.deepEqual([rounds.code, rounds.stderr], [2, `error: --rounds is not usable\n  hint: ${remedy}\n`]);
  const unwritable = await authserve(["selftest", "crash"], { dir, env: { DATA_DIR: "/dev/null/data" } });
  assert.equal(unwritable.code, 2);
  assert.match(unwritable.stderr, /^error: DATA_DIR cannot be created \(ENOTDIR\)/);
  assert.deepEqual(readdirSync(dir), []);
});

suite("the folder of a test is kept", () => {
  const abort = async () => {};
  const kept = (dir: string) => readdirSync(dir).map((name) => join(dir, name));

  test("if the test fails", async () => {
    const dir = workingDir();
    const { folder } = await runInFolder(
      dir,
      () => ({ run: async () => "bad", abort }),
      () => false,
    );
    assert.deepEqual(kept(dir), [folder]);
  });

  test("if the test cannot go on, with the exit code 1", async () => {
    const dir = workingDir();
    const run = () => Promise.reject(new OperatorError("no server"));
    const running = runInFolder(
      dir,
      () => ({ run, abort }),
      () => true,
    );
    await assert.rejects(running, { message: "no server", exitCode: 1 });
    assert.equal(kept(dir).length, 1);
  });
});
