import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import * as argon2 from "@node-rs/argon2";
import { ask, deliver, event, logIn, logOut, me, post, tryLogin } from "../../helpers/client.ts";
import { EMAIL, JWT_SECRET, PASSWORD, PASSWORD_HASH, WEBHOOK_SECRET } from "../../helpers/credentials.ts";
import { startServer } from "../../helpers/server.ts";
import { signature } from "../../helpers/sign.ts";
import { settled } from "../../helpers/stored-events.ts";
import { until } from "../../helpers/until.ts";

const server = await startServer({ env: { LOG_LEVEL: "debug" } });
after(() => server[Symbol.asyncDispose]());

test("X1 SIGTERM during 20 logins: each gets an answer and the process exits with 0", async () => {
  const hash = await argon2.hash(PASSWORD, { memoryCost: 16_384, timeCost: 2, parallelism: 1 });
  await using busy = await startServer({ env: { DEMO_PASSWORD: hash, SHUTDOWN_TIMEOUT: "1h" } });
  const logins = Array.from({ length: 20 }, () => tryLogin(busy));
  await Promise.race(logins);
  busy.signal("SIGTERM");
  const answers = await Promise.all(logins);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.deepEqual(await busy.exited, { code: 0, signal: null });
});

test("X2 no secret, password, token, e-mail, signature or payload is in the log, at any level", async () => {
  const body = JSON.stringify(event("logged", { note: "payload-text" }));
  const token = await logIn(server);
  await tryLogin(server, { password: "a wrong password" });
  await tryLogin(server, { email: "somebody@example.com" });
  await post(server, "/auth/login", { email: EMAIL, password: PASSWORD, unwanted: "unwanted-text" });
  await post(server, "/auth/login", `{"email":"${EMAIL}","password":"${PASSWORD}"`);
  await me(server, token);
  await me(server, `${token}x`);
  await ask(server, `/auth/me?access_token=${token}`);
  await deliver(server, body);
  await deliver(server, body.replace("payload-text", "conflict-text"));
  await deliver(server, '{"id":"x","object":"event","note":"payload-text"}');
  await post(server, "/webhook", body, { "X-Signature": "sha256=0123456789abcdef" });
  await logOut(server, token);
  await settled(server, "logged");
  await until(() => server.log("session_ended").length > 0);
  const secrets = [
    JWT_SECRET,
    WEBHOOK_SECRET,
    PASSWORD,
    PASSWORD_HASH,
    EMAIL,
    "somebody@example.com",
    "a wrong password",
    "unwanted-text",
    "payload-text",
    "conflict-text",
    signature(body).slice(7),
    "0123456789abcdef",
    ...token.split("."),
  ];
  const written = server.stdout() + server.stderr();
  assert.deepEqual(
    secrets.filter((secret) => written.includes(secret)),
    [],
  );
  assert.ok(server.log("request_completed").length > 10);
});

test("X2 an internal error shows the client no secret, path or stack", async () => {
  const answers = [
    await tryLogin(server, { password: "a wrong password" }),
    await me(server, "junk"),
    await post(server, "/webhook", "{}", { "X-Signature": "junk" }),
    await ask(server, `/${JWT_SECRET}`),
    await post(server, "/auth/login", `${PASSWORD}`),
  ];
  for (const { text } of answers) {
    for (const secret of [JWT_SECRET, WEBHOOK_SECRET, PASSWORD, PASSWORD_HASH, EMAIL, server.dir, "node:internal"]) {
      assert.ok(!text.includes(secret));
    }
    assert.doesNotMatch(text, /\n\s+at |\.ts\b/);
  }
});

test("X2 the process list and the help contain no secret", async () => {
  const help = await Promise.all(
    [["--help"], ["serve", "--help"], ["events", "--help"]].map((args) => server.run(args)),
  );
  // This check needs /proc.
  const commandLine = process.platform === "linux" ? readFileSync(`/proc/${server.pid}/cmdline`, "utf8") : "serve";
  assert.match(commandLine, /serve/);
  const shown = [commandLine, ...help.map(({ stdout, stderr }) => stdout + stderr)].join();
  for (const secret of [JWT_SECRET, WEBHOOK_SECRET, PASSWORD_HASH, EMAIL]) assert.ok(!shown.includes(secret));
});

test("X2 the data contains no password, secret, signature or e-mail of a login", async () => {
  const body = JSON.stringify(event("kept"));
  const token = await logIn(server);
  await tryLogin(server, { email: "guessed@example.com", password: "a guessed password" });
  await deliver(server, body);
  const files = ["authserve.db", "authserve.db-wal"].map((name) => readFileSync(join(server.dir, "data", name)));
  const data = Buffer.concat(files);
  assert.ok(data.includes("kept"));
  const secrets = [JWT_SECRET, WEBHOOK_SECRET, PASSWORD, PASSWORD_HASH, token, EMAIL, "guessed", signature(body)];
  assert.deepEqual(
    secrets.filter((secret) => data.includes(secret)),
    [],
  );
});

test("X4 the metrics count logins and deliveries, and name no user, address or event", async () => {
  await using counted = await startServer();
  await logIn(counted);
  await tryLogin(counted, { email: "somebody@example.com" });
  await deliver(counted, event("evt_x4"));
  const { status, text } = await ask(counted, "/metrics");
  assert.equal(status, 200);
  for (const name of ['logins_total{outcome="succeeded"}', 'logins_total{outcome="invalid_credentials"}']) {
    assert.ok(text.includes(`\nauthserve_${name} 1\n`), name);
  }
  assert.ok(text.includes('\nauthserve_deliveries_total{result="new"} 1\n'));
  for (const named of ["@", EMAIL, "127.0.0.1", "evt_x4"]) assert.ok(!text.includes(named), named);
});

test("no signal opens Node's debugger, which would let every local user read the secrets", async () => {
  await using alone = await startServer();
  alone.signal("SIGUSR1");
  assert.equal((await ask(alone, "/healthz")).status, 200);
  assert.deepEqual(await alone.stop(), { code: 0, signal: null });
  assert.doesNotMatch(alone.stderr(), /debugger/i);
});
