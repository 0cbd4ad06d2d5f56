import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ask, logIn, logOut, me, post } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { addTotp } from "../helpers/second-factor.ts";
import type { Server } from "../helpers/server.ts";

const LOGIN_ROUNDS = Number(process.env.RACE_LOGIN_ROUNDS ?? 10);
const LOGOUT_ROUNDS = Number(process.env.RACE_LOGOUT_ROUNDS ?? 200);

const STEPS = 10;

/**
 * Lets a program with a token ask all the time, until the test ends. Its token is no session: it always passes,
 * whatever becomes of the sessions.
 */
async function withToken(t: TestContext, servers: Server[]): Promise<Server[]> {
  const [server] = servers;
  const created = await server?.run(["tokens", "create", randomUUID(), "--scope", "verify"]);
  const headers = { Authorization: `Bearer ${created?.stdout.trim()}` };
  let isOver = false;
  async function askAll(): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const { status } = await ask(servers[n % servers.length] as Server, "/auth/verify", { headers });
      assert.equal(status, 200);
      await setImmediate();
    }
  }
  const asking = askAll();
  t.after(async () => {
    isOver = true;
    await asking;
  });
  return servers;
}

/** The races of a single session, over HTTP, spread over the servers that `start` returns. */
export function singleSessionSuite(setup: string, start: (t: TestContext) => Promise<Server[]>): void {
  suite(`one session per user on ${setup}`, () => {
    test(`exactly one of 50 parallel logins has a valid session, ${LOGIN_ROUNDS} times`, async (t) => {
      const serverOf = spread(await withToken(t, await start(t)));
      for (let round = 0; round < LOGIN_ROUNDS; round++) {
        const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => logIn(serverOf(index))));
        const answers = await Promise.all(tokens.map((token, index) => me(serverOf(index + 1), token)));
        const statuses = answers.map(({ status }) => status);
        assert.equal(statuses.filter((status) => status === 200).length, 1, `round ${round}: ${statuses.join()}`);
        assert.equal(statuses.filter((status) => status === 401).length, 49);
      }
    });

    test("exactly one of 10 parallel logins with second factors has a valid session, 3 times", async (t) => {
      const serverOf = spread(await withToken(t, await start(t)));
      await addTotp(serverOf(0));
      for (let round = 0; round < 3; round++) {
        const codes = JSON.parse((await serverOf(0).run(["factors", "recovery-codes", "--json"])).stdout) as string[];
        const logins = codes.map((code, index) => logInWithCode(serverOf(index), code));
        const answers = await Promise.all(
          (await Promise.all(logins)).map((token, index) => me(serverOf(index + 1), token)),
        );
        const statuses = answers.map(({ status }) => status);
        assert.equal(statuses.filter((status) => status === 200).length, 1, `round ${round}: ${statuses.join()}`);
        assert.equal(statuses.filter((status) => status === 401).length, 9);
      }
      await serverOf(0).run(["factors", "remove", "--all"]);
    });

    test(`a logout that races a login never ends the new session, ${LOGOUT_ROUNDS} times`, async (t) => {
      const serverOf = spread(await withToken(t, await start(t)));
      let superseded = 0;
      for (let round = 0; round < LOGOUT_ROUNDS; round++) {
        const startedAt = performance.now();
        const old = await logIn(serverOf(round));
        const loginMs = performance.now() - startedAt;
        const login = logIn(serverOf(round + 1));
        // The hash takes most of a login's time. The logout is sent at different times within it, so that either may be
        // first.
        await elapse((loginMs * (round % STEPS)) / (STEPS - 1));
        const [out, token] = await Promise.all([logOut(serverOf(round), old), login]);
        assert.ok(out.status === 200 || out.status === 401, String(out.status));
        if (out.status === 401) superseded++;
        assert.equal((await me(serverOf(round), token)).status, 200, `round ${round}`);
      }
      t.diagnostic(`the login came first in ${superseded} of ${LOGOUT_ROUNDS} races`);
    });

    test("200 parallel requests during a logout do not restore the session", async (t) => {
      const serverOf = spread(await withToken(t, await start(t)));
      const token = await logIn(serverOf(0));
      const reads = (from: number) => Array.from({ length: 100 }, (_, index) => me(serverOf(from + index), token));
      const [before, out, after] = await Promise.all([
        Promise.all(reads(0)),
        logOut(serverOf(0), token),
        Promise.all(reads(100)),
      ]);
      assert.equal(out.status, 200);
      for (const { status } of [...before, ...after]) assert.ok(status === 200 || status === 401, String(status));
      for (let index = 0; index < 4; index++) assert.equal((await me(serverOf(index), token)).status, 401);
      const shown = JSON.parse((await serverOf(0).run(["session", "show", "--json"])).stdout);
      assert.equal(shown.active, false);
    });
  });
}

async function logInWithCode(server: Server, code: string): Promise<string> {
  const answer = await post(server, "/auth/login/code", { email: EMAIL, password: PASSWORD, code });
  assert.equal(answer.status, 200, answer.text);
  return String(answer.json.accessToken);
}

async function elapse(ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) await setImmediate();
}

function spread(servers: Server[]): (index: number) => Server {
  return (index) => servers[index % servers.length] as Server;
}
