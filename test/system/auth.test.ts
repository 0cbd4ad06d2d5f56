import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ask, assertProblem, logIn, logOut, me, post, tryLogin } from "../helpers/client.ts";
import { EMAIL, JWT_SECRET, PASSWORD, USER_ID } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { claimsOf, forge } from "../helpers/sign.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const INVALIDATED = "Sesión invalidada. Inicia sesión de nuevo.";

test("a login answers 200 with the token and nothing else", async () => {
  const answer = await tryLogin(server);
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json), ["accessToken"]);
  assert.equal(answer.headers.get("content-type"), "application/json");
});

test("a token has exactly the documented header and claims, with the default lifetime", async () => {
  const before = Math.floor(Date.now() / 1000);
  const token = await logIn(server);
  const after = Math.floor(Date.now() / 1000);
  const [header = ""] = token.split(".");
  assert.deepEqual(JSON.parse(Buffer.from(header, "base64url").toString()), { alg: "HS256", typ: "JWT" });
  const claims = claimsOf(token);
  assert.deepEqual(Object.keys(claims).sort(), ["email", "exp", "iat", "sid", "sub"]);
  assert.equal(claims.sub, USER_ID);
  assert.equal(claims.email, EMAIL);
  assert.match(claims.sid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(claims.exp - claims.iat, 900);
  assert.ok(claims.iat >= before && claims.iat <= after);
});

test("an unknown e-mail is answered 401 Credenciales inválidas", async () => {
  const answer = await tryLogin(server, { email: "nobody@example.com" });
  assertProblem(answer, 401, "invalid_credentials", "Credenciales inválidas");
});

test("a wrong password is answered 401 Credenciales inválidas", async () => {
  assertProblem(
    await tryLogin(server, { password: "wrong password" }),
    401,
    "invalid_credentials",
    "Credenciales inválidas",
  );
});

test("a refused login has WWW-Authenticate, as every 401 must", async () => {
  const answer = await tryLogin(server, { password: "wrong password" });
  assert.equal(answer.headers.get("www-authenticate"), "Bearer");
});

test("a token that is missing, malformed, wrongly signed or expired is answered 401 on me and on logout", async () => {
  const now = Math.floor(Date.now() / 1000);
  const claims = claimsOf(await logIn(server));
  const tokens = {
    malformed: "not-a-token",
    "wrongly signed": forge({ alg: "HS256", typ: "JWT" }, claims, { secret: `${JWT_SECRET}x` }),
    expired: forge({ alg: "HS256", typ: "JWT" }, { ...claims, iat: now - 60, exp: now - 1 }),
  };
  for (const [name, token] of Object.entries(tokens)) {
    for (const answer of [await me(server, token), await logOut(server, token)]) {
      assertProblem(answer, 401, "invalid_token", "Unauthorized");
      assert.equal(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"', name);
    }
  }
  for (const answer of [await ask(server, "/auth/me"), await ask(server, "/auth/logout", { method: "POST" })]) {
    assertProblem(answer, 401, "missing_token", "Unauthorized");
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
  }
});

test("a second login ends the first session at once and logout ends the second", async () => {
  const first = await logIn(server);
  assert.equal((await me(server, first)).status, 200);
  const second = await logIn(server);
  assertProblem(await me(server, first), 401, "session_invalidated", INVALIDATED);
  assertProblem(await logOut(server, first), 401, "session_invalidated", INVALIDATED);
  const answer = await me(server, second);
  assert.deepEqual([answer.status, answer.json], [200, { userId: USER_ID, email: EMAIL }]);
  const out = await logOut(server, second);
  assert.deepEqual([out.status, out.json], [200, { ok: true }]);
  assertProblem(await me(server, second), 401, "session_invalidated", INVALIDATED);
  assertProblem(await logOut(server, second), 401, "session_invalidated", INVALIDATED);
});

test("a login body that fails validation is answered 400 with the names of the fields and none of their values", async () => {
  const bodies: [body: object, path: string][] = [
    [{ email: "not-an-address", password: PASSWORD }, "email"],
    [{ email: EMAIL, password: "12345" }, "password"],
    [{ email: EMAIL }, "password"],
    [{ password: PASSWORD }, "email"],
    [{ email: EMAIL, password: PASSWORD, remember: "unwanted-value" }, "remember"],
    [{ email: 7, password: PASSWORD }, "email"],
  ];
  for (const [body, path] of bodies) {
    const answer = await post(server, "/auth/login", body);
    assertProblem(answer, 400, "validation_failed");
    const errors = answer.json.errors as { path: string; message: string }[];
    assert.deepEqual(
      errors.map((error) => error.path),
      [path],
    );
    assert.doesNotMatch(answer.text, /not-an-address|12345|unwanted-value|correct horse/);
  }
});

test("a password of five characters is refused and one of six is compared", async () => {
  assertProblem(await tryLogin(server, { password: "😀😀😀😀😀" }), 400, "validation_failed");
  assertProblem(await tryLogin(server, { password: "123456" }), 401, "invalid_credentials");
});

test("the e-mail is compared case-insensitively", async () => {
  const token = await logIn(server, { email: EMAIL.toUpperCase() });
  assert.equal((await me(server, token)).json.email, EMAIL);
});

test("me and logout refuse a body that is not empty", async () => {
  const token = await logIn(server);
  const answer = await post(server, "/auth/logout", { all: true }, { Authorization: `Bearer ${token}` });
  assertProblem(answer, 400, "validation_failed");
  assert.equal((await me(server, token)).status, 200);
});

test("/healthz and /readyz answer 200", async () => {
  assert.equal((await ask(server, "/healthz")).status, 200);
  const { instance, status, parts } = (await ask(server, "/readyz")).json as Record<string, object | string>;
  assert.equal(status, "ready");
  const names = "alerts audit clients events factors held intake sessions sources throttle tokens";
  assert.deepEqual(
    Object.entries(parts ?? {}).sort(),
    names.split(" ").map((name) => [name, "ok"]),
  );
  assert.match(String(instance), /^[0-9a-f-]{36}$/);
});
