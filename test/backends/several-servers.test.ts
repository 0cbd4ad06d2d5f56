import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { needsPostgres } from "../helpers/back-end.ts";
import { assertProblem, deliver, event, logIn, logOut, me, tryLogin } from "../helpers/client.ts";
import { startPostgres } from "../helpers/postgres.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { SERVERS, startThree } from "../helpers/several-servers.ts";
import { showJob } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const RATE = 20;

async function nodesOf(server: Server): Promise<{ url: string; alive: boolean; version: string; lagMs: number }[]> {
  return JSON.parse((await server.run(["nodes", "--json"])).stdout);
}

suite("three servers on one PostgreSQL", needsPostgres(), () => {
  test("accept each other's tokens, and a login on one ends the session of the others", async (t) => {
    const [one, two, three] = await startThree(t, {});
    const first = await logIn(one);
    for (const server of [one, two, three]) assert.equal((await me(server, first)).status, 200);
    const second = await logIn(two);
    for (const server of [one, two, three]) assertProblem(await me(server, first), 401, "session_invalidated");
    assert.equal((await logOut(three, second)).status, 200);
    assertProblem(await me(one, second), 401, "session_invalidated");
  });

  test("allow an address ten failed logins together, not ten each", async (t) => {
    const servers = await startThree(t, {});
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, n) => tryLogin(servers[n % SERVERS] as Server, { password: "wrong password" })),
    );
    assert.equal(guesses.filter(({ status }) => status === 401).length, 10);
    assert.equal(guesses.filter(({ status }) => status === 429).length, 20);
    for (const server of servers) assertProblem(await tryLogin(server), 429, "too_many_attempts");
  });

  test("are listed, and take over the attempt of one that is killed", async (t) => {
    const database = await startPostgres(t);
    await using target = await startTarget();
    target.answer(() => {});
    const env = { DATABASE_URL: database.url(), FORWARD_URL: target.url };
    await using killed = await startServer({ env });
    await deliver(killed, event("in-work"));
    await until(() => target.of("in-work").length === 1);
    target.answer((_, response) => response.writeHead(204).end());
    const [one, two] = await startThree(t, env, database);
    assert.equal((await nodesOf(one)).filter(({ alive }) => alive).length, 4);
    await killed.kill();
    await until(async () => (await showJob(one, "in-work")).status === "processed", 30_000);
    assert.deepEqual(
      (await showJob(two, "in-work")).history.map(({ outcome }) => outcome),
      ["lease_expired", "succeeded"],
    );
    const stateOf = async (url: string) => (await nodesOf(two)).find((node) => node.url === url)?.alive;
    await until(async () => (await stateOf(killed.url)) === false, 20_000);
    await one.stop();
    assert.equal(await stateOf(one.url), undefined);
    assert.equal(await stateOf(two.url), true);
  });

  test("keep the rate of a route together", async (t) => {
    await using target = await startTarget();
    const file = join(workingDir(), "authserve.yaml");
    writeFileSync(file, `routes:\n  - { name: slow, to: "${target.url}", rate: ${RATE}/s, concurrency: 100 }\n`);
    const [one] = await startThree(t, { CONFIG_FILE: file });
    await Promise.all(Array.from({ length: 30 * RATE }, (_, n) => deliver(one, event(`evt_${n}`))));
    const startedAt = performance.now();
    const within = (fromMs: number, toMs: number) =>
      target.received.filter(({ at }) => at >= startedAt + fromMs && at < startedAt + toMs).length;
    // New servers wait until all others know of them.
    await delay(20_000);
    // In the first second, requests arrive that have waited while this process was sending.
    for (let second = 1; second < 20; second++) {
      const count = within(second * 1000, second * 1000 + 1000);
      assert.ok(count <= RATE + 2 * SERVERS, `${count} in second ${second}`);
    }
    assert.ok(within(15_000, 20_000) >= 0.8 * 5 * RATE, `${within(15_000, 20_000)} in the last five seconds`);
  });

  test("remove old events one at a time, and another one goes on when that one is gone", async (t) => {
    const file = join(workingDir(), "authserve.yaml");
    writeFileSync(file, "retention: { processed: 0s, failed: 0s, ids: 0s }\n");
    const servers = await startThree(t, { CONFIG_FILE: file });
    const purging = () => servers.filter((server) => server.log("events_purged").length > 0);
    for (let n = 0; n < 20; n++) {
      await deliver(servers[n % SERVERS] as Server, event(`evt_${n}`));
      await delay(50);
    }
    await until(() => purging().length > 0, 10_000);
    const [first, ...others] = purging();
    assert.deepEqual(others, []);
    await first?.kill();
    const survivor = servers.find((server) => server !== first) as Server;
    await deliver(survivor, event("evt_later"));
    await until(() => purging().length === 2, 45_000);
  });
});
