import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { newToken } from "../../src/auth/machine-tokens/form.ts";
import { ask, logIn } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** A server behind a proxy, with what a proxy asks it. */
async function startLogged(t: TestContext, env: Record<string, string> = { ACCESS_LOG: "on" }) {
  const dir = workingDir();
  writeFileSync(
    join(dir, "authserve.yaml"),
    "access:\n  - { path: /open, allow: everyone }\n  - { path: /closed, allow: nobody }\n",
  );
  const server = await startServer({
    dir,
    env: { PUBLIC_URL: "https://auth.example.com", TRUSTED_PROXIES: "127.0.0.1", ...env },
  });
  t.after(() => server[Symbol.asyncDispose]());
  const verify = (path: string, headers: Record<string, string> = {}) => {
    const original = { "X-Original-URL": `https://app.example.com${path}`, "X-Original-Method": "GET" };
    const proxied = { "X-Forwarded-For": "198.51.100.7", ...original };
    return ask(server, "/auth/verify", { headers: { ...proxied, ...headers } });
  };
  const log = async (...options: string[]) => {
    const { code, stdout, stderr } = await server.run(["access", "log", ...options, "--json"]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>[];
  };
  return { server, verify, log, file: join(dir, "data", "access.log") };
}

suite("access log", () => {
  test("shows who was let in, who was not, and by which entry, without queries and tokens", async (t) => {
    const { server, verify, log, file } = await startLogged(t);
    const { stdout } = await server.run(["tokens", "create", "backup", "--scope", "verify:dav.example.com"]);
    const token = stdout.trim();
    await verify("/open?key=secret");
    await verify("/closed");
    await verify("/other");
    await verify("/other", { Authorization: `Bearer ${token}` });
    await verify("/other", { Authorization: `Bearer ${newToken()}` });
    await verify("/other", { Authorization: `Bearer ${await logIn(server)}` });
    await until(async () => (await log()).length === 6);
    const shown = (await log()).map(({ decision, entry, code, user, token }) => [decision, entry, code, user, token]);
    assert.deepEqual(shown, [
      ["allowed", 1, null, null, null],
      ["denied", 2, "access_denied", null, null],
      ["login", null, "missing_token", null, null],
      ["denied", null, "insufficient_scope", null, "backup"],
      ["denied", null, "invalid_token", null, null],
      ["allowed", null, null, "1", null],
    ]);
    const [first] = await log();
    assert.match(String(first?.at), /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(
      [first?.method, first?.host, first?.path, first?.address],
      ["GET", "app.example.com", "/open", "198.51.100.7"],
    );
    assert.equal((await log("--decision", "denied", "--limit", "2")).length, 2);
    assert.equal((await log("--host", "none.example.com")).length, 0);
    const table = (await server.run(["access", "log", "--decision", "denied"])).stdout;
    assert.match(table, /denied +2 +- +198\.51\.100\.7 +GET +app\.example\.com +\/closed +access_denied/);
    assert.match(table, /token backup/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok(!(await readFile(file, "utf8")).includes(token.slice(4, 20)));
  });

  test("keeps what it has logged over a stop, and begins another file when one is full", async (t) => {
    const { server, verify, log, file } = await startLogged(t);
    await verify("/open");
    await until(async () => (await log()).length === 1);
    const size = (await stat(file)).size;
    truncateSync(file, 10 * 1024 * 1024);
    await verify("/closed");
    await until(async () => (await log()).length === 2);
    assert.equal((await stat(`${file}.1`)).size, 10 * 1024 * 1024);
    assert.ok((await stat(file)).size < 2 * size);
    await verify("/other");
    await server.stop();
    assert.equal((await log()).length, 3);
  });

  test("follows new decisions", async (t) => {
    const { server, verify } = await startLogged(t);
    await verify("/open");
    const args = ["access", "log", "--follow", "--decision", "denied"];
    const follower = startProgram(EXECUTABLE, args, server);
    t.after(() => void follower.child.kill());
    await until(async () => {
      await verify("/closed");
      return follower.stdout().includes("/closed");
    });
    assert.ok(!follower.stdout().includes("/open"));
  });

  test("says that it is off, as it is by default", async (t) => {
    const { server, verify } = await startLogged(t, {});
    await verify("/closed");
    const { code, stderr } = await server.run(["access", "log"]);
    assert.equal(code, 2);
    assert.match(stderr, /The server logs no decisions.*set ACCESS_LOG=on/s);
  });

  test("that cannot be written holds no request up, and the log says so once", async (t) => {
    const dir = workingDir();
    await mkdir(join(dir, "data", "access.log"), { recursive: true });
    const server = await startServer({
      dir,
      env: { PUBLIC_URL: "https://auth.example.com", ACCESS_LOG: "on", DATA_DIR: join(dir, "data") },
    });
    t.after(() => server[Symbol.asyncDispose]());
    assert.equal((await ask(server, "/auth/verify", {})).status, 401);
    const line = await server.logged("access_log_error");
    assert.match(String(line.error), /EISDIR/);
  });
});
