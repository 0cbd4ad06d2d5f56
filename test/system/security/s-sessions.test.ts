import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertProblem, logIn, logOut, me, tryLogin } from "../../helpers/client.ts";
import { cheapHash, PASSWORD } from "../../helpers/credentials.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { claimsOf } from "../../helpers/sign.ts";
import { until } from "../../helpers/until.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const INVALIDATED = "Sesión invalidada. Inicia sesión de nuevo.";

async function storedSid(of: Server): Promise<string | null> {
  return JSON.parse((await of.run(["session", "show", "--json"])).stdout).sid;
}

test("S1 a second login ends the first token at once", async () => {
  for (let round = 0; round < 5; round++) {
    const first = await logIn(server);
    const second = await logIn(server);
    assertProblem(await me(server, first), 401, "session_invalidated", INVALIDATED);
    assert.equal((await me(server, second)).status, 200);
  }
});

test("S2 after 50 parallel logins exactly one token is valid, that of the stored session", async () => {
  for (let round = 0; round < 2; round++) {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => logIn(server)));
    assert.equal(new Set(tokens.map((token) => claimsOf(token).sid)).size, 50);
    const answers = await Promise.all(tokens.map((token) => me(server, token)));
    const alive = tokens.filter((_, index) => answers[index]?.status === 200);
    assert.equal(alive.length, 1);
    if (round === 0) assert.equal(claimsOf(alive[0] ?? "").sid, await storedSid(server));
  }
});

test("S3 a logout never ends the session of a concurrent login", async () => {
  for (let round = 0; round < 20; round++) {
    const first = await logIn(server);
    const [, second] = await Promise.all([logOut(server, first), logIn(server)]);
    assert.equal((await me(server, second)).status, 200);
  }
});

test("S4 a logout with a superseded token is refused and leaves the new session alive", async () => {
  const first = await logIn(server);
  const second = await logIn(server);
  assertProblem(await logOut(server, first), 401, "session_invalidated", INVALIDATED);
  assert.equal((await me(server, second)).status, 200);
});

test("S5 a second logout is refused", async () => {
  const token = await logIn(server);
  assert.equal((await logOut(server, token)).status, 200);
  assertProblem(await logOut(server, token), 401, "session_invalidated", INVALIDATED);
});

test("S5 of parallel logouts with one token exactly one succeeds", async () => {
  const token = await logIn(server);
  const answers = await Promise.all(Array.from({ length: 10 }, () => logOut(server, token)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});

test("S6 after a logout the token is refused with the message that clients rely on", async () => {
  const token = await logIn(server);
  await logOut(server, token);
  assertProblem(await me(server, token), 401, "session_invalidated", INVALIDATED);
});

test("S7 no lookup revives a session that a logout has ended", async () => {
  const token = await logIn(server);
  const lookups = Array.from({ length: 200 }, () => me(server, token));
  assert.equal((await logOut(server, token)).status, 200);
  await Promise.all(lookups);
  assert.equal((await me(server, token)).status, 401);
  assert.equal(await storedSid(server), null);
});

test("S8 a session identifier sent by the client is never used", async () => {
  const wanted = "3f0c1a5e-2b7d-4f49-9d6a-6c1c7e4f8b20";
  assertProblem(await tryLogin(server, { sid: wanted }), 400, "validation_failed");
  const token = await logIn(server, {}, { "X-Session-Id": wanted, Cookie: `sid=${wanted}` });
  assert.notEqual(claimsOf(token).sid, wanted);
});

test("S9 a failed login leaves the running session alive", async () => {
  const token = await logIn(server);
  assert.equal((await tryLogin(server, { password: "wrong password" })).status, 401);
  assert.equal((await me(server, token)).status, 200);
});

test("S10 another password hash ends the session at the next start; S12 a restart alone keeps it", async () => {
  await using first = await startServer();
  const token = await logIn(first);
  await first.stop();
  await using same = await startServer({ dir: first.dir });
  assert.equal((await me(same, token)).status, 200);
  await same.stop();
  await using changed = await startServer({
    dir: first.dir,
    env: { DEMO_PASSWORD: await cheapHash("another password") },
  });
  assertProblem(await me(changed, token), 401, "session_invalidated", INVALIDATED);
  assert.equal((await tryLogin(changed, { password: PASSWORD })).status, 401);
  assert.equal((await tryLogin(changed, { password: "another password" })).status, 200);
});

test("S11 a token and its record end together when the lifetime is over", async () => {
  await using short = await startServer({ env: { JWT_TTL: "3s" } });
  // On a machine that stands still for so long, the token may be over at once.
  const token = await until(async () => {
    const made = await logIn(short);
    return (await me(short, made)).status === 200 ? made : null;
  });
  const { exp } = claimsOf(token);
  let lastAcceptedAt = 0;
  await until(async () => {
    const sentAt = Date.now();
    const { status } = await me(short, token);
    if (status === 200) lastAcceptedAt = sentAt;
    return status !== 200;
  });
  // The check uses whole seconds.
  assert.ok(Date.now() >= exp * 1000 - 50, "ended before its time");
  assert.ok(lastAcceptedAt < exp * 1000, "outlived its time");
  assert.equal((await me(short, token)).status, 401);
  await until(async () => (await storedSid(short)) === null);
});
