import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { authserve } from "../helpers/command.ts";
import { settings, startServer } from "../helpers/server.ts";
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
});
