import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { suite, test } from "node:test";
import { authserve } from "../helpers/command.ts";
import { settings, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

suite("authserve ready", () => {
  test("returns when the server is ready", async () => {
    await using server = await startServer();
    assert.equal((await server.run(["ready"], { PORT: String(server.port) })).code, 0);
  });

  test("exits 1 and names the address when no server answers in time", async () => {
    const dir = workingDir();
    const env = settings(dir, { PORT: "1" });
    const { code, stderr } = await authserve(["ready", "--timeout", "100ms"], { dir, env });
    assert.equal(code, 1);
    assert.match(stderr, /http:\/\/127\.0\.0\.1:1\/readyz is not ready after 100ms \(ECONNREFUSED/);
  });

  test("says what the server answered last, also when its end cuts a try short", async (t) => {
    const dir = workingDir();
    let asked = 0;
    // From the third time on it does not answer.
    const unready = createHttpServer((_, response) => void (++asked < 3 && response.writeHead(503).end()));
    t.after(() => {
      unready.close();
      unready.closeAllConnections();
    });
    await once(unready.listen(0, "127.0.0.1"), "listening");
    const env = settings(dir, { PORT: String((unready.address() as AddressInfo).port) });
    const { code, stderr } = await authserve(["ready", "--timeout", "500ms"], { dir, env });
    assert.equal(code, 1);
    assert.match(stderr, /is not ready after 500ms \(503\)/);
  });

  test("takes no longer than its timeout when the server begins to hang meanwhile", async (t) => {
    const timeoutMs = 3000;
    let firstAt: number | undefined;
    let longestMs = 0;
    // Cuts its connections for half of the time, and then leaves them without an answer.
    const hangs = createServer((socket) => {
      const openedAt = performance.now();
      firstAt ??= openedAt;
      if (openedAt - firstAt < timeoutMs / 2) return socket.destroy();
      socket
        .on("error", () => {})
        .on("close", () => {
          longestMs = Math.max(longestMs, performance.now() - openedAt);
        });
      return socket.resume();
    });
    t.after(() => void hangs.close());
    await once(hangs.listen(0, "127.0.0.1"), "listening");
    const dir = workingDir();
    const env = settings(dir, { PORT: String((hangs.address() as AddressInfo).port) });
    assert.equal((await authserve(["ready", "--timeout", `${timeoutMs}ms`], { dir, env })).code, 1);
    await until(() => longestMs > 0);
    assert.ok(longestMs < timeoutMs * 0.9, `${longestMs} ms`);
  });

  test("does not guess the port of a server that picks one", async () => {
    const dir = workingDir();
    for (const command of [["ready"], ["events", "send-test"]]) {
      const { code, stderr } = await authserve(command, {
        dir,
        env: settings(dir, { PORT: "0", WEBHOOK_SECRET: "s" }),
      });
      assert.equal(code, 2);
      assert.match(stderr, /PORT is 0, which is another port at each start: set PORT/);
    }
  });
});
