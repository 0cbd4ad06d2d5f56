import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { authserve } from "../../helpers/command.ts";
import { type Server, settings, startServer } from "../../helpers/server.ts";
import { HANG_MS, until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const INSTANCE = "the only start";

type Place = Pick<Server, "dir" | "env">;

/** Writes the instance file of a server, with what 0.2.0 writes. */
function leaveInstance(dir: string, url: string): void {
  mkdirSync(join(dir, "data"), { recursive: true, mode: 0o700 });
  const nothing = { unnamedProxy: null, configFault: null, process: null, reload: { count: 0, file: null } };
  const instance = { id: INSTANCE, url, ...nothing };
  writeFileSync(join(dir, "data/server.json"), JSON.stringify(instance), { mode: 0o600 });
}

/**
 * Runs the command with longer and longer timeouts until it tells this. On a slow machine a short one cuts the first
 * answer off.
 */
async function notReady({ dir, env }: Place, found: RegExp): Promise<{ timeout: string; stderr: string }> {
  for (let ms = 100; ; ms *= 4) {
    const timeout = `${ms}ms`;
    const { code, stderr } = await authserve(["ready", "--timeout", timeout], { dir, env });
    assert.equal(code, 1, stderr);
    if (found.test(stderr) || ms > HANG_MS) return { timeout, stderr };
  }
}

suite("authserve ready", () => {
  test("returns when the server is ready, by a file that only the server's user can read", async () => {
    await using server = await startServer();
    assert.equal((await server.run(["ready"])).code, 0);
    assert.equal(statSync(join(server.dir, "data/server.json")).mode & 0o777, 0o600);
  });

  test("exits 1 and names the address when the server does not answer in time", async () => {
    await using server = await startServer();
    await server.kill();
    const address = `http://127\\.0\\.0\\.1:${server.port}/readyz`;
    const { timeout, stderr } = await notReady(server, /ECONNREFUSED/);
    assert.match(stderr, new RegExp(`Not ready after ${timeout}: ${address} does not answer .*ECONNREFUSED`));
  });

  test("finds no server before one was started, and after it was stopped", async () => {
    await using server = await startServer();
    await server.stop();
    for (const dir of [workingDir(), server.dir]) {
      for (const command of [
        ["ready", "--timeout", "100ms"],
        ["events", "send-test"],
      ]) {
        const { code, stderr } = await authserve(command, { dir, env: settings(dir) });
        assert.equal(code, 1);
        assert.match(stderr, /data\/server\.json does not exist\n {2}hint: start the server, or set/);
      }
    }
  });

  test("accepts no other server, even if PORT is its port", async () => {
    await using server = await startServer();
    await using other = await startServer();
    const PORT = String(other.port);
    assert.equal((await server.run(["events", "send-test", "--id", "mine"], { PORT })).code, 0);
    await server.logged("event_received");
    assert.deepEqual(other.log("event_received"), []);

    await server.kill();
    // As if another program got the port meanwhile.
    leaveInstance(server.dir, other.url);
    const sent = await server.run(["events", "send-test"]);
    assert.equal(sent.code, 1, sent.stderr);
    const ANSWERED = /is answered by another server/;
    for (const { stderr } of [sent, await notReady(server, ANSWERED)]) assert.match(stderr, ANSWERED);
    assert.deepEqual(other.log("event_received"), []);
  });

  test("reports the server's last response, even if the timeout interrupts another try", async (t) => {
    const dir = workingDir();
    let asked = 0;
    // From the third request of a command on it does not answer.
    const body = JSON.stringify({ status: "unavailable", parts: {}, instance: INSTANCE });
    const unready = createHttpServer((_, response) => void (++asked < 3 && response.writeHead(503).end(body)));
    t.after(() => {
      unready.close();
      unready.closeAllConnections();
    });
    await once(unready.listen(0, "127.0.0.1"), "listening");
    leaveInstance(dir, `http://127.0.0.1:${(unready.address() as AddressInfo).port}`);
    for (let ms = 500; asked < 3; ms *= 2) {
      asked = 0;
      const { code, stderr } = await authserve(["ready", "--timeout", `${ms}ms`], { dir, env: settings(dir) });
      assert.equal(code, 1);
      if (asked >= 3) assert.match(stderr, new RegExp(`Not ready after ${ms}ms: .*/readyz says 503`));
    }
  });

  test("ends at its timeout when the server begins to hang", async (t) => {
    const timeoutMs = 2000;
    let firstAt: number | undefined;
    let longestMs = 0;
    // Closes connections for half of the time, and then leaves them open without a response.
    const hangs = createServer((socket) => {
      const openedAt = performance.now();
      firstAt ??= openedAt;
      socket.on("error", () => {});
      if (openedAt - firstAt < timeoutMs / 2) return socket.destroy();
      socket.on("close", () => {
        longestMs = Math.max(longestMs, performance.now() - openedAt);
      });
      return socket.resume();
    });
    t.after(() => void hangs.close());
    await once(hangs.listen(0, "127.0.0.1"), "listening");
    const dir = workingDir();
    leaveInstance(dir, `http://127.0.0.1:${(hangs.address() as AddressInfo).port}`);
    // A machine that stands still may see the end too late, or the server only when the command is over, so it tries
    // again. A command that gave each request the whole time would never end sooner.
    await until(async () => {
      firstAt = undefined;
      longestMs = 0;
      const args = ["ready", "--timeout", `${timeoutMs}ms`];
      assert.equal((await authserve(args, { dir, env: settings(dir) })).code, 1);
      return longestMs > 0 && longestMs < timeoutMs * 0.9;
    });
  });
});
