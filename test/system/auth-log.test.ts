import assert from "node:assert/strict";
import { test } from "node:test";
import { logIn, logOut, me, tryLogin } from "../helpers/client.ts";
import { EMAIL, JWT_SECRET, PASSWORD, PASSWORD_HASH, USER_ID } from "../helpers/credentials.ts";
import { type LogLine, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";

const EVENTS = /^(?:login_succeeded|login_failed|login_throttled|session_superseded|session_ended|session_revoked)$/;

test("each login, failure, supersession, logout, throttling and revocation gives one log line, without secrets", async () => {
  await using server = await startServer();
  const lines = () => server.log().filter(({ event }) => EVENTS.test(event));
  const id = (requestId: string) => ({ "X-Request-ID": requestId });
  const wrong = { password: "wrong password" };

  const first = await logIn(server, {}, id("login-1"));
  const second = await logIn(server, {}, id("login-2"));
  await me(server, first);
  await logOut(server, second);
  for (let i = 0; i < 10; i++) await tryLogin(server, wrong, id(`failure-${i}`));
  await tryLogin(server, wrong, id("throttled"));

  const address = "127.0.0.1";
  await until(() => lines().some(({ event }) => event === "login_throttled"));
  const shown = lines().map(({ level, time, message, ...line }) => line);
  const requestId = shown.find(({ event }) => event === "session_ended")?.requestId;
  assert.deepEqual(shown, [
    { event: "login_succeeded", requestId: "login-1", address, userId: USER_ID, method: "password" },
    { event: "login_succeeded", requestId: "login-2", address, userId: USER_ID, method: "password" },
    { event: "session_superseded", requestId: "login-2", address, userId: USER_ID },
    { event: "session_ended", requestId, address, userId: USER_ID },
    ...Array.from({ length: 10 }, (_, i) => ({ event: "login_failed", requestId: `failure-${i}`, address })),
    { event: "login_throttled", requestId: "throttled", address },
  ]);
  const secrets = [EMAIL, PASSWORD, PASSWORD_HASH, JWT_SECRET, wrong.password, first, second];
  for (const secret of [...secrets, ...secrets.map((text) => encodeURIComponent(text))]) {
    assert.ok(!server.stdout().includes(secret) && !server.stderr().includes(secret));
  }
});

test("a revocation by command gives one log line on standard error", async () => {
  await using server = await startServer();
  await logIn(server);
  const { stderr, stdout, code } = await server.run(["session", "revoke", "--json"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { userId: USER_ID, revoked: true });
  const { event, userId, reason } = JSON.parse(stderr) as LogLine;
  assert.deepEqual({ event, userId, reason }, { event: "session_revoked", userId: USER_ID, reason: "command" });
  assert.equal((await server.run(["session", "revoke", "--json"])).stderr, "");
});

test("a revocation by a changed password gives one log line", async () => {
  const first = await startServer();
  await logIn(first);
  await first.stop();
  const changed = `${PASSWORD_HASH.slice(0, -4)}AAAA`;
  await using second = await startServer({ dir: first.dir, env: { DEMO_PASSWORD: changed } });
  const line = await second.logged("session_revoked");
  assert.equal(line.reason, "credentials_changed");
});
