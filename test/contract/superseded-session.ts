import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { type Answer, assertProblem, logIn, logOut, me } from "../helpers/client.ts";
import { OTHER_JWT_SECRET } from "../helpers/credentials.ts";
import type { Server } from "../helpers/server.ts";
import { claimsOf, forge, HEADER } from "../helpers/sign.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const PHONE = { "User-Agent": FIREFOX, "X-Forwarded-For": "203.0.113.77" };

function assertPlain(answer: Answer, code = "session_invalidated"): void {
  assertProblem(answer, 401, code);
  assert.deepEqual(Object.keys(answer.json).sort(), ["code", "detail", "requestId", "status", "title", "type"]);
}

/** What a superseded session is told. `start` returns a server that trusts 127.0.0.1 as a proxy. */
export function supersededSuite(adapter: string, start: (t: TestContext) => Promise<Server>) {
  suite(`a superseded session on ${adapter}`, () => {
    test("tells the holder of its token when, from which network and by which program it was replaced", async (t) => {
      const server = await start(t);
      const first = await logIn(server);
      const before = Date.now();
      await logIn(server, {}, PHONE);
      for (const answer of [await me(server, first), await logOut(server, first)]) {
        assertProblem(answer, 401, "session_invalidated", "Sesión invalidada. Inicia sesión de nuevo.");
        assert.deepEqual(answer.json.supersededBy, { network: "203.0.113.0/24", userAgent: "Firefox" });
        const at = Date.parse(String(answer.json.supersededAt));
        assert.ok(at >= before && at <= Date.now());
        assert.doesNotMatch(answer.text, /203\.0\.113\.77|Gecko/);
      }
    });

    test("tells a forged token of the same session nothing", async (t) => {
      const server = await start(t);
      const first = await logIn(server);
      await logIn(server);
      assertPlain(await me(server, forge(HEADER, claimsOf(first), { secret: OTHER_JWT_SECRET })), "invalid_token");
    });

    test("that was logged out, revoked or never existed tells nothing", async (t) => {
      const server = await start(t);
      const loggedOut = await logIn(server);
      await logOut(server, loggedOut);
      assertPlain(await me(server, loggedOut));
      const revoked = await logIn(server);
      assert.equal((await server.run(["session", "revoke"])).code, 0);
      assertPlain(await me(server, revoked));
      await logIn(server);
      for (const token of [loggedOut, revoked]) assertPlain(await me(server, token));
      const sid = "3f0c4a52-2f53-4f25-9ed5-1d6f6a0b7a10";
      assertPlain(await me(server, forge(HEADER, { ...claimsOf(revoked), sid })));
    });
  });
}
