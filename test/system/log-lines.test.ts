import assert from "node:assert/strict";
import { test } from "node:test";
import { LOG_EVENTS, type LogEvent } from "../../src/log-events.ts";
import { ask, deliver, event, logIn, logOut, me, tryLogin } from "../helpers/client.ts";
import { type LogLine, startServer } from "../helpers/server.ts";
import { settled } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";

const ON_EVERY_LINE = ["level", "time", "event", "message"];

function assertDocumented(lines: readonly LogLine[]): void {
  for (const line of lines) {
    const known = [...ON_EVERY_LINE, ...LOG_EVENTS[line.event as LogEvent].fields];
    const others = Object.keys(line).filter((field) => !known.includes(field));
    assert.deepEqual(others, [], `undocumented fields of ${line.event}`);
  }
}

test("the log has only documented fields, and only some requests are logged at info", async () => {
  await using target = await startTarget();
  await using server = await startServer({
    env: {
      LOG_LEVEL: "debug",
      FORWARD_URL: target.url,
      RETRY_DELAY: "10ms",
      RETRY_ATTEMPTS: "2",
      WORKER_POLL_INTERVAL: "50ms",
    },
  });
  await tryLogin(server, { password: "wrong password" });
  await logIn(server);
  const token = await logIn(server);
  assert.equal((await me(server, token)).status, 200);
  assert.equal((await logOut(server, token)).status, 200);
  for (const path of ["/healthz", "/readyz", "/metrics"]) assert.equal((await ask(server, path)).status, 200);
  assert.equal((await ask(server, "/nothing-here")).status, 404);
  assert.equal((await deliver(server, event("taken"))).status, 200);
  await settled(server, "taken");
  assert.equal((await deliver(server, event("taken", { amount: 2 }))).status, 200);
  for (const id of ["first", "second"])
    assert.equal((await deliver(server, { note: "same" }, { "X-Request-ID": id })).status, 200);
  await settled(server, "first");
  target.answer((_, response) => void response.writeHead(500).end());
  assert.equal((await deliver(server, event("refused"))).status, 200);
  await settled(server, "refused", "event_dead_lettered");
  await server.stop();

  const lines = server.log();
  assertDocumented(lines);
  const seen = new Set(lines.map((line) => line.event));
  for (const name of [
    "server_started",
    "login_failed",
    "login_succeeded",
    "session_superseded",
    "session_ended",
    "delivery_conflict",
    "delivery_repeat",
    "event_processed",
    "event_retried",
    "event_dead_lettered",
    "server_stopped",
  ])
    assert.ok(seen.has(name), `no line of ${name}`);

  const pathsAt = (level: string) =>
    new Set(lines.filter((line) => line.event === "request_completed" && line.level === level).map(({ path }) => path));
  assert.deepEqual([...pathsAt("info")].sort(), ["-", "/auth/login", "/auth/logout"]);
  assert.deepEqual([...pathsAt("debug")].sort(), [
    "/auth/me",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/readyz",
    "/webhook",
  ]);
});
