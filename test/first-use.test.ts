import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask, assertProblem, deliver, event, logIn, logOut, me, post } from "./helpers/client.ts";
import { startServer } from "./helpers/server.ts";
import { signature } from "./helpers/sign.ts";
import { list, settled } from "./helpers/stored-events.ts";
import { startTarget } from "./helpers/target.ts";
import { until } from "./helpers/until.ts";
import { workingDir } from "./helpers/working-dir.ts";

const FROM_FILE = { JWT_SECRET: undefined, DEMO_EMAIL: undefined, DEMO_PASSWORD: undefined, WEBHOOK_SECRET: undefined };

test("first use: start, log in, receive, forward, fail, replay, open the pages, stop", async () => {
  const dir = workingDir();
  await using app = await startTarget();
  const env = { ...FROM_FILE, FORWARD_URL: app.url, RETRY_ATTEMPTS: "1" };
  await using server = await startServer({ dir, env, args: ["--init"] });

  // The first start makes secrets and a password.
  await until(() => server.stderr().includes("Stop with Ctrl+C"));
  const credentials = { email: "demo@example.com", password: readFileSync(join(dir, ".env.password"), "utf8").trim() };
  const [, secret] = /^WEBHOOK_SECRET='(.*)'$/m.exec(readFileSync(join(dir, ".env"), "utf8")) ?? [];
  const deliverSigned = (body: object) =>
    deliver(server, JSON.stringify(body), { "X-Signature": signature(JSON.stringify(body), secret) });

  // One session: the second login ends the first.
  const first = await logIn(server, credentials);
  assert.equal((await me(server, first)).json.email, "demo@example.com");
  const token = await logIn(server, credentials);
  assertProblem(await me(server, first), 401, "session_invalidated", "Sesión invalidada. Inicia sesión de nuevo.");
  const session = { headers: { Authorization: `Bearer ${token}` } };

  // A delivery is stored once and forwarded. One that is signed by another secret is refused.
  const [stored, again] = [await deliverSigned(event("evt_1")), await deliverSigned(event("evt_1"))];
  assert.deepEqual([stored.json.duplicate, again.json.duplicate], [false, true]);
  assertProblem(await deliver(server, event("evt_2")), 403, "signature_mismatch");
  await settled(server, "evt_1");
  assert.equal(app.of("evt_1").length, 1);
  assert.equal(app.of("evt_1")[0]?.headers["idempotency-key"], "evt_1");

  // An app that fails leaves a dead letter, which a replay sends again.
  app.answer((_, response) => void response.writeHead(500).end());
  await deliverSigned(event("evt_3"));
  await settled(server, "evt_3", "event_dead_lettered");
  app.answer((_, response) => void response.writeHead(204).end());
  const replayed = await post(server, "/admin/api/events/replay", { ids: ["evt_3"] }, session.headers);
  assert.equal(replayed.json.matched, 1, replayed.text);
  await settled(server, "evt_3");
  assert.deepEqual(
    (await list(server)).map(({ eventId, status }) => [eventId, status]),
    [
      ["evt_3", "processed"],
      ["evt_1", "processed"],
    ],
  );

  // Pages and probes.
  assert.match((await ask(server, "/login")).text, /<form method="post"/);
  assert.match((await ask(server, "/admin/", session)).text, /<script type="module"/);
  assert.equal((await ask(server, "/readyz")).status, 200);

  assert.equal((await logOut(server, token)).json.ok, true);
  assertProblem(await me(server, token), 401, "session_invalidated");
  assert.equal((await server.stop()).code, 0);
});
