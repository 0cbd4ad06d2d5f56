import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertProblem, logIn, me } from "../../helpers/client.ts";
import { startServer } from "../../helpers/server.ts";
import { claimsOf } from "../../helpers/sign.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

test("session show prints the active session with its expiry", async () => {
  const { sid, exp } = claimsOf(await logIn(server));
  const { code, stdout, stderr } = await server.run(["session", "show", "--json"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const shown = JSON.parse(stdout);
  assert.deepEqual(Object.keys(shown), ["userId", "active", "sid", "expiresAt"]);
  assert.deepEqual([shown.userId, shown.active, shown.sid], ["1", true, sid]);
  // The session is stored a moment before the token is made.
  assert.ok(Math.abs(Date.parse(shown.expiresAt) / 1000 - exp) <= 60);
  const words = await server.run(["session", "show"]);
  assert.ok(words.stdout.includes(sid));
});

test("a running server notices a revocation at the next request", async () => {
  const token = await logIn(server);
  assert.equal((await me(server, token)).status, 200);
  const { code, stdout } = await server.run(["session", "revoke", "--json"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { userId: "1", revoked: true });
  assertProblem(await me(server, token), 401, "session_invalidated", "Sesión invalidada. Inicia sesión de nuevo.");
  const again = await server.run(["session", "revoke", "--json"]);
  assert.equal(JSON.parse(again.stdout).revoked, false);
  const none = JSON.parse((await server.run(["session", "show", "--json"])).stdout);
  assert.deepEqual(none, { userId: "1", active: false, sid: null, expiresAt: null });
});

test("another user id has another session", async () => {
  const token = await logIn(server);
  const { stdout } = await server.run(["session", "revoke", "2", "--json"]);
  assert.deepEqual(JSON.parse(stdout), { userId: "2", revoked: false });
  assert.equal((await me(server, token)).status, 200);
});

test("an invalid user id is wrong usage", async () => {
  for (const command of ["show", "revoke"]) {
    for (const id of ["", "x y", "x".repeat(129)]) {
      const { code, stdout, stderr } = await server.run(["session", command, id]);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.equal(
        stderr,
        "error: The user id is not usable\n  hint: expected 1 to 128 letters, digits and . _ : @ -, e.g. 1\n",
      );
    }
  }
});

test("a session is shown and revoked while no server runs", async () => {
  await using first = await startServer();
  const token = await logIn(first);
  await first.stop();
  const { stdout } = await first.run(["session", "show", "--json"]);
  assert.equal(JSON.parse(stdout).sid, claimsOf(token).sid);
  assert.equal((await first.run(["session", "revoke"])).code, 0);
  await using second = await startServer({ dir: first.dir });
  assertProblem(await me(second, token), 401, "session_invalidated");
});
