import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { logIn, me, tryLogin } from "../helpers/client.ts";
import { PASSWORD, PASSWORD_HASH } from "../helpers/credentials.ts";
import { peopleYaml } from "../helpers/people-server.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { startThree } from "../helpers/several-servers.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 6);
const MOST_MS = 300;

const NAMES = Array.from({ length: 10 }, (_, n) => `p${n}`);
const credentialsOf = (name: string) => ({ email: `${name}@example.com`, password: PASSWORD });
const entryOf = (name: string) =>
  `{ email: ${credentialsOf(name).email}, passwordHash: env:TEN_HASH, owner: ${name === NAMES[0]} }`;

/** A configuration file with ten people, and its settings. */
function settingsOfTen(): Record<string, string> {
  const file = join(workingDir(), "authserve.yaml");
  writeFileSync(file, peopleYaml(Object.fromEntries(NAMES.map((name) => [name, entryOf(name)]))));
  return { CONFIG_FILE: file, TEN_HASH: PASSWORD_HASH };
}

/** Logs in at a server that may be killed. Null: there was no answer, or it was too busy. */
async function tryToken(server: Server, name: string): Promise<string | null> {
  const answer = await tryLogin(server, credentialsOf(name)).catch(() => null);
  if (answer === null || answer.status === 503) return null;
  assert.equal(answer.status, 200, answer.text);
  return String(answer.json.accessToken);
}

/** The tokens that a server accepts. */
async function aliveAt(server: Server, tokens: readonly string[]): Promise<string[]> {
  const statuses = await Promise.all(
    tokens.map((token) =>
      until(async () => {
        const { status } = await me(server, token);
        return status === 503 ? null : status;
      }),
    ),
  );
  return tokens.filter((_, index) => statuses[index] === 200);
}

/** Ten people at three servers with shared stores, which are killed. `open` returns the settings of the stores. */
export function tenPeopleSuite(setup: string, open: (t: TestContext) => Promise<Record<string, string>>): void {
  suite(`ten people at three servers on ${setup}`, () => {
    test(`have at most one session each after ${ROUNDS} kills, and end nobody else's`, async (t) => {
      const servers: Server[] = await startThree(t, { ...settingsOfTen(), ...(await open(t)) });
      t.after(async () => {
        for (const server of servers) await server[Symbol.asyncDispose]();
      });
      const serverAt = (n: number) => servers[n % servers.length] as Server;
      const tokens = new Map<string, string[]>(NAMES.map((name) => [name, []]));
      const tokensOf = (name: string) => tokens.get(name) as string[];
      await Promise.all(NAMES.map((name, n) => until(() => tryToken(serverAt(n), name))));
      let unanswered = 0;

      for (let round = 0; round < ROUNDS; round++) {
        const resting = NAMES.filter((_, n) => n % 5 === round % 5);
        const kept = await Promise.all(resting.map((name, n) => logIn(serverAt(n), credentialsOf(name))));
        const busy = NAMES.filter((name) => !resting.includes(name));
        const logins = busy.flatMap((name) =>
          servers.map(async (server) => {
            const token = await tryToken(server, name);
            if (token === null) unanswered++;
            else tokensOf(name).push(token);
          }),
        );
        const killed = serverAt(round);
        await delay(Math.random() * MOST_MS);
        await killed.kill();
        await Promise.all(logins);
        servers[servers.indexOf(killed)] = await startServer({ dir: killed.dir, env: killed.env });
        for (const server of servers) {
          assert.deepEqual(await aliveAt(server, kept), kept, `round ${round}: who rests keeps the session`);
          for (const name of busy) assert.ok((await aliveAt(server, tokensOf(name))).length <= 1, name);
        }
      }

      const last = await Promise.all(NAMES.map((name, n) => logIn(serverAt(n), credentialsOf(name))));
      for (const server of servers) {
        assert.deepEqual(await aliveAt(server, last), last);
        for (const name of NAMES) assert.deepEqual(await aliveAt(server, tokensOf(name)), []);
      }
      t.diagnostic(`${[...tokens.values()].flat().length} logins were answered, ${unanswered} were not`);
    });
  });
}
