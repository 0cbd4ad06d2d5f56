import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, suite, test } from "node:test";
import { needsPostgres } from "../helpers/back-end.ts";
import { assertProblem, deliver, event, logIn, logOut, me, tryLogin } from "../helpers/client.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { endOfSuite, PATIENT, SERVERS, startThree } from "../helpers/several-servers.ts";
import { showJob } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const RATE = 20;

/** The most attempts that began within a second. */
const BUSIEST_SECOND = `
SELECT max(attempts) AS attempts FROM (
  SELECT count(*) OVER (ORDER BY started_at RANGE BETWEEN CURRENT ROW AND 999 FOLLOWING) AS attempts
  FROM authserve.attempts) AS seconds`;

async function nodesOf(server: Server): Promise<{ url: string; alive: boolean; version: string; lagMs: number }[]> {
  return JSON.parse((await server.run(["nodes", "--json"])).stdout);
}

// They wait most of the time: until a server that was killed counts as dead, or a new one knows of all others.
suite("three servers on one PostgreSQL", { ...needsPostgres(), concurrency: true }, () => {
  suite("that share sessions and failed logins", { concurrency: 1 }, () => {
    const cleanup = endOfSuite(after);
    let servers: [Server, Server, Server];
    before(async () => {
      servers = await startThree(cleanup, {});
    });
    beforeEach(async () => assert.equal((await servers[0].run(["throttle", "clear"])).code, 0));

    test("accept each other's tokens, and a login on one ends the session of the others", async () => {
      const [one, two, three] = servers;
      const first = await logIn(one);
      for (const server of servers) assert.equal((await me(server, first)).status, 200);
      const second = await logIn(two);
      for (const server of servers) assertProblem(await me(server, first), 401, "session_invalidated");
      assert.equal((await logOut(three, second)).status, 200);
      assertProblem(await me(one, second), 401, "session_invalidated");
    });

    test("allow an address ten failed logins together, not ten each", async () => {
      const guesses = await Promise.all(
        Array.from({ length: 30 }, (_, n) => tryLogin(servers[n % SERVERS] as Server, { password: "wrong password" })),
      );
      assert.equal(guesses.filter(({ status }) => status === 401).length, 10);
      assert.equal(guesses.filter(({ status }) => status === 429).length, 20);
      for (const server of servers) assertProblem(await tryLogin(server), 429, "too_many_attempts");
    });
  });

  test("are listed, and take over the attempt of one that is killed", async (t) => {
    const { url } = await tempPostgres(t);
    await using target = await startTarget();
    target.answer(() => {});
    const env = { ...PATIENT, DATABASE_URL: url, FORWARD_URL: target.url, HANDLER_TIMEOUT: "1h" };
    await using killed = await startServer({ env });
    await deliver(killed, event("in-work"));
    await until(() => target.of("in-work").length === 1);
    target.answer((_, response) => response.writeHead(204).end());
    const [one, two] = await startThree(t, env, url);
    assert.equal((await nodesOf(one)).filter(({ alive }) => alive).length, 4);
    await killed.kill();
    await until(async () => (await showJob(one, "in-work")).status === "processed");
    assert.deepEqual(
      (await showJob(two, "in-work")).history.map(({ outcome }) => outcome),
      ["lease_expired", "succeeded"],
    );
    const stateOf = async (url: string) => (await nodesOf(two)).find((node) => node.url === url)?.alive;
    await until(async () => (await stateOf(killed.url)) === false);
    await one.stop();
    assert.equal(await stateOf(one.url), undefined);
    assert.equal(await stateOf(two.url), true);
  });

  test("keep the rate of a route together", async (t) => {
    await using target = await startTarget();
    const file = join(workingDir(), "authserve.yaml");
    writeFileSync(file, `routes:\n  - { name: slow, to: "${target.url}", rate: ${RATE}/s, concurrency: 100 }\n`);
    const { postgres, url } = await tempPostgres(t);
    const [one] = await startThree(t, { CONFIG_FILE: file }, url);
    // Servers that are new begin ten seconds later than the first one: when all others know of them.
    const events = 12 * RATE;
    await Promise.all(Array.from({ length: events }, (_, n) => deliver(one, event(`evt_${n}`))));
    await until(() => target.received.length >= events);
    const [busiest] = await postgres.rows<{ attempts: number }>(BUSIEST_SECOND);
    assert.ok(busiest && busiest.attempts <= RATE + 2 * SERVERS, `${busiest?.attempts} in a second`);
  });

  test("remove old events one at a time, and another one goes on when that one is gone", async (t) => {
    const file = join(workingDir(), "authserve.yaml");
    writeFileSync(file, "retention: { processed: 0s, failed: 0s, ids: 0s }\n");
    const servers = await startThree(t, { CONFIG_FILE: file });
    const purging = () => servers.filter((server) => server.log("events_purged").length > 0);
    let n = 0;
    await until(async () => {
      await deliver(servers[n % SERVERS] as Server, event(`evt_${n++}`));
      return purging().length > 0;
    });
    const [first, ...others] = purging();
    assert.deepEqual(others, []);
    await first?.kill();
    const survivor = servers.find((server) => server !== first) as Server;
    await deliver(survivor, event("evt_later"));
    await until(() => purging().length === 2);
  });
});
