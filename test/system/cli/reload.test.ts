import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { authserve, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { settings, startServer } from "../../helpers/server.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const CONFIG = "sources:\n  shop: { preset: github, secrets: [env:SHOP_SECRET] }\n";
const WRONG = "sources:\n  shop: { preset: nobody, secrets: [env:SHOP_SECRET] }\n";
const SHOP_SECRET = "a secret of the shop in .env";

function writeEnv(dir: string, secret: string): void {
  writeFileSync(join(dir, ".env"), `SHOP_SECRET="${secret}"\n`, { mode: 0o600 });
}

suite("authserve reload", () => {
  test("says that the server uses the file, which it has read with its secrets", async () => {
    await using server = await startServer();
    writeEnv(server.dir, SHOP_SECRET);
    writeFileSync(join(server.dir, "authserve.yaml"), CONFIG);
    const { code, stdout, stderr } = await server.run(["reload"]);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, `The server uses ${join(server.dir, "authserve.yaml")}\n`);
    const json = await server.run(["reload", "--json"]);
    assert.deepEqual(JSON.parse(json.stdout), { file: join(server.dir, "authserve.yaml"), used: true, fault: null });
  });

  test("exits 1 with the fault of a wrong file, and the server goes on with the one before", async () => {
    await using server = await startServer();
    writeEnv(server.dir, SHOP_SECRET);
    const file = join(server.dir, "authserve.yaml");
    writeFileSync(file, CONFIG);
    assert.equal((await server.run(["reload"])).code, 0);
    writeFileSync(file, WRONG);
    const { code, stdout, stderr } = await server.run(["reload"]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(
      stderr,
      /The server goes on with the configuration before: authserve\.yaml:2:\d+:? sources\.shop\.preset/,
    );
    const json = await server.run(["reload", "--json"]);
    const { used, fault } = JSON.parse(json.stdout);
    assert.deepEqual([json.code, used], [1, false]);
    assert.match(fault, /sources\.shop\.preset/);
  });

  test("forgets the fault of a file that was removed again", async () => {
    await using server = await startServer();
    const file = join(server.dir, "authserve.yaml");
    writeFileSync(file, WRONG);
    assert.equal((await server.run(["reload"])).code, 1);
    rmSync(file);
    const { code, stdout } = await server.run(["reload"]);
    assert.deepEqual([code, stdout], [0, "The server has no configuration file\n"]);
  });

  test("exits 1 without a server, and when it was killed", async () => {
    const dir = workingDir();
    const none = await authserve(["reload"], { dir, env: settings(dir) });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /server\.json does not exist\n {2}hint: start the server/);
    await using server = await startServer();
    await server.kill();
    const killed = await server.run(["reload"]);
    assert.equal(killed.code, 1);
    assert.match(killed.stderr, /does not answer/);
  });

  test("sends no signal to a process of another container", async () => {
    await using server = await startServer();
    const file = join(server.dir, "data/server.json");
    const instance = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...instance, process: { pid: process.pid, namespace: "pid:[1]" } }));
    const { code, stderr } = await server.run(["reload"]);
    assert.equal(code, 1);
    assert.match(stderr, /runs in another container\n {2}hint: run this command in its container/);
  });

  test("does not end a server at a terminal", async () => {
    const dir = workingDir();
    const env = settings(dir, { LOG_FORMAT: "json" });
    const terminal = startProgram("script", ["-qec", `${EXECUTABLE} serve`, "/dev/null"], {
      dir,
      env,
      keepInputOpen: true,
    });
    try {
      await until(() => terminal.stdout().includes("server_started"));
      const { code, stderr } = await authserve(["reload"], { dir, env });
      assert.equal(code, 1);
      assert.match(stderr, /runs at a terminal, where SIGHUP would end it/);
      assert.ok(existsSync(join(dir, "data/server.json")));
    } finally {
      terminal.child.kill("SIGKILL");
    }
  });

  test("needs the rights of the server's user", { skip: process.getuid?.() !== 0 && "needs root" }, async () => {
    await using server = await startServer({ dir: workingDir(0o777) });
    const { code, stderr } = await authserve(["reload"], { dir: server.dir, env: server.env, uid: 65_534 });
    assert.equal(code, 1);
    assert.match(stderr, /hint: run this as the server's user/);
  });
});
