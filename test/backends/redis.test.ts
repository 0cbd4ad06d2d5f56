import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { needsRedis } from "../helpers/back-end.ts";
import { ask, assertProblem, deliver, event, logIn, me, notReady, tryLogin } from "../helpers/client.ts";
import { cheapHash } from "../helpers/credentials.ts";
import { type RedisProcess, startRedis, startSentinel, TLS_CERT_FILE, TLS_KEY_FILE } from "../helpers/redis.ts";
import { serveRefused, startServer } from "../helpers/server.ts";
import { PATIENT } from "../helpers/several-servers.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const onRedis = needsRedis();

const settingsFor = ({ port }: RedisProcess) => ({ ...PATIENT, REDIS_HOST: "127.0.0.1", REDIS_PORT: String(port) });

/** For what must be answered while Redis hangs. */
const HURRIED = { REDIS_TIMEOUT: "1s" };

suite("a server on Redis", onRedis, () => {
  test("logs the version of Redis at the start, and warns of an eviction policy that drops sessions", async (t) => {
    const redis = await startRedis(t, { args: ["--maxmemory-policy", "volatile-lru"] });
    await using server = await startServer({ env: settingsFor(redis) });
    const ready = await server.logged("session_store_ready");
    assert.match(String(ready.version), /^(?:Redis|Valkey) /);
    await until(() =>
      server
        .log("setting_warning")
        .some(({ message }) => String(message).includes("volatile-lru") && String(message).includes("set noeviction")),
    );
  });

  test("connects over TLS with a password", async (t) => {
    const redis = await startRedis(t, { tls: true, password: "redis password" });
    const access = { REDIS_TLS: "true", REDIS_TLS_CA_FILE: TLS_CERT_FILE, REDIS_PASSWORD: "redis password" };
    await using server = await startServer({
      env: { ...settingsFor(redis), REDIS_HOST: "localhost", ...access },
    });
    const token = await logIn(server);
    assert.equal((await me(server, token)).status, 200);
    assert.doesNotMatch(server.stdout() + server.stderr(), /redis password/);
  });

  test("stops when told to while sentinels come and go, as do its commands, and prints nothing about them", async (t) => {
    const { sentinel } = await startSentinel(t);
    const gone = await startRedis(t);
    await gone.kill();
    const sentinels = [gone, sentinel].map(({ port }) => `127.0.0.1:${port}`).join();
    await using server = await startServer({ env: { ...PATIENT, REDIS_SENTINELS: sentinels } });
    const token = await logIn(server);
    const shown = await server.run(["session", "show"]);
    assert.deepEqual([shown.code, shown.stderr], [0, ""]);
    await sentinel.kill();
    // Until the server has noticed it.
    const endsAt = performance.now() + 1500;
    while (performance.now() < endsAt) assert.equal((await me(server, token)).status, 200);
    const refused = await server.run(["session", "show"], HURRIED);
    assert.equal(refused.code, 1);
    assert.equal((await server.stop()).code, 0);
    assert.doesNotMatch(refused.stderr + server.stderr(), /ioredis/);
  });

  test("ends the session after a password change, even if the data of Redis is older", async (t) => {
    const redis = await startRedis(t);
    const client = redis.client(t);
    const env = settingsFor(redis);
    await using first = await startServer({ env });
    const token = await logIn(first);
    // The key of a check expires, perhaps before it is read.
    const keys = (await client.keys("*")).filter((key) => !/:check\b/.test(key));
    const old = await Promise.all(keys.map(async (key) => [key, await client.dumpBuffer(key)] as const));
    await first.stop();

    const changed = await cheapHash("another password");
    await using second = await startServer({ dir: first.dir, env: { ...env, DEMO_PASSWORD: changed } });
    assert.equal((await me(second, token)).status, 401);
    for (const [key, value] of old) await client.restore(key, 60_000, value, "REPLACE");
    await client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    // Also while it reconnects.
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => me(second, token).then(({ status }) => status)),
    );
    assert.ok(!statuses.includes(200), String(statuses));
    await until(async () => second.log("session_store_ready").length === 2);
    assert.equal((await me(second, token)).status, 401);
    assert.equal((await me(second, token)).status, 401);
  });

  test("ends sessions in the database, so that a superseded session is not valid again without Redis", async (t) => {
    const redis = await startRedis(t);
    const dir = workingDir();
    await using inFile = await startServer({ dir });
    const superseded = await logIn(inFile);
    await inFile.stop();
    await using onRedis = await startServer({ dir, env: settingsFor(redis) });
    await logIn(onRedis);
    await onRedis.stop();
    await using back = await startServer({ dir });
    assert.equal((await me(back, superseded)).status, 401);
  });

  test("rejects tokens of a server that still has the old password", async (t) => {
    const redis = await startRedis(t);
    const env = settingsFor(redis);
    await using old = await startServer({ env });
    const password = "another password";
    await using fresh = await startServer({ env: { ...env, DEMO_PASSWORD: await cheapHash(password) } });
    const token = await logIn(old);
    await old.stop();
    assertProblem(await me(fresh, token), 401, "session_invalidated");
    assert.equal((await me(fresh, await logIn(fresh, { password }))).status, 200);
  });

  test("that is down starts, answers 503, accepts webhooks, and accepts logins as soon as Redis is up", async (t) => {
    const redis = await startRedis(t);
    await redis.kill();
    await using server = await startServer({ env: settingsFor(redis) });
    const refused = await tryLogin(server);
    assertProblem(refused, 503, "store_unavailable");
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
    assert.equal((await ask(server, "/healthz")).status, 200);
    const ready = await ask(server, "/readyz");
    assert.deepEqual([ready.status, notReady(ready)], [503, ["sessions"]]);
    assert.equal((await deliver(server, event("evt_while_redis_is_down"))).status, 200);
    assert.equal(server.log("session_store_error").length, 1);
    await redis.restart();
    await until(async () => (await ask(server, "/readyz")).status === 200);
    const token = await logIn(server);
    assert.equal((await me(server, token)).status, 200);
  });

  test("stops even if Redis hangs", async (t) => {
    const redis = await startRedis(t);
    await using server = await startServer({ env: { ...settingsFor(redis), ...HURRIED } });
    redis.pause();
    const { code } = await server.stop();
    assert.equal(code, 0);
    redis.resume();
  });

  test("ends the session of a changed password when Redis is back, before it accepts any token", async (t) => {
    const redis = await startRedis(t);
    const env = settingsFor(redis);
    const first = await startServer({ env });
    const token = await logIn(first);
    await first.stop();
    redis.pause();
    const changed = "$argon2id$v=19$m=1024,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    await using second = await startServer({ dir: first.dir, env: { ...env, ...HURRIED, DEMO_PASSWORD: changed } });
    assertProblem(await me(second, token), 503, "store_unavailable");
    redis.resume();
    const answer = await until(async () => {
      const shown = await me(second, token);
      return shown.status === 503 ? null : shown;
    });
    assertProblem(answer, 401, "session_invalidated");
  });
});

test("contradicting settings of Redis are refused by name", async () => {
  const refused = await serveRefused({
    REDIS_HOST: "localhost",
    REDIS_CLUSTER: "a:6379,b:70000",
    REDIS_SENTINELS: "10.0.0.1:26379",
    REDIS_TLS: "yes",
    REDIS_KEY_PREFIX: "{x}",
    REDIS_DB: "1",
  });
  assert.equal(refused.code, 2);
  for (const name of ["REDIS_CLUSTER is", "REDIS_TLS is", "REDIS_KEY_PREFIX is", "REDIS_DB is", "REDIS_HOST and"]) {
    assert.ok(refused.stderr.includes(name), `${name} is not in: ${refused.stderr}`);
  }
});

test("a REDIS_TLS_CA_FILE without a certificate is refused by name", async () => {
  const dir = workingDir();
  const access = { REDIS_HOST: "localhost", REDIS_TLS: "true" };
  const contents = {
    "empty.pem": "",
    "key.pem": readFileSync(TLS_KEY_FILE),
    "binary.der": new X509Certificate(readFileSync(TLS_CERT_FILE)).raw,
  };
  for (const [name, content] of Object.entries(contents)) {
    writeFileSync(join(dir, name), content);
    const refused = await serveRefused({ ...access, REDIS_TLS_CA_FILE: join(dir, name) });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /^error: REDIS_TLS_CA_FILE holds no certificate\n {2}hint: /m);
  }
});
