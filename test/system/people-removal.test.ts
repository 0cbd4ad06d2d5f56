import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { openDatabase } from "../../src/sqlite/database.ts";
import { Authenticator } from "../helpers/authenticator.ts";
import { ask, logIn, me, tryLogin } from "../helpers/client.ts";
import { DeviceBrowser } from "../helpers/device.ts";
import { ADA, BEN, ENTRIES, peopleYaml, putToken, startWithPeople } from "../helpers/people-server.ts";
import { addTotp } from "../helpers/second-factor.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";

const ORIGIN = "https://auth.example.com";
const ENV = { PUBLIC_URL: ORIGIN, TRUSTED_PROXIES: "127.0.0.1", ADMIN: "on" };
const { ada, ben, cleo } = ENTRIES;
const start = (t: TestContext, dir?: string) =>
  startWithPeople(t, { yaml: peopleYaml({ ada, ben, cleo }), env: ENV, ...(dir && { dir }) });

/** Gives the server another file, and waits until it has read that. */
async function reload(server: Server, entries: Record<string, string> | null): Promise<void> {
  const before = server.log("config_reloaded").length;
  const other = Object.keys(entries ?? {}).length === 0 ? "sources: {}\n" : peopleYaml(entries ?? {});
  writeFileSync(join(server.dir, "authserve.yaml"), other);
  server.signal("SIGHUP");
  await until(() => server.log("config_reloaded").length > before);
}

/** All that ben has: a session, a passkey, recovery codes, a token, a known browser, and a login under way. */
async function benOn(server: Server) {
  const browser = new DeviceBrowser(server);
  await browser.logIn("/", BEN);
  const key = new Authenticator();
  const options = (await browser.send("GET", "/account/passkey")).json as Parameters<Authenticator["create"]>[0];
  const added = await browser.submit("/account/passkey", { answer: key.create(options, ORIGIN) });
  const [, code = ""] = /<code>([^<]+)<\/code>/.exec(added.text) ?? [];
  const begun = new DeviceBrowser(server);
  await begun.submit("/login", BEN);
  const token = await putToken(server, "ben/phone", ["verify"]);
  const bearer = browser.cookies.get("__Host-authserve") ?? "";
  return { browser, key, code, begun, token, bearer };
}

type Ben = Awaited<ReturnType<typeof benOn>>;

/** What still works of what ben had. A login ends the session, so that comes first. */
async function worksOf(server: Server, { browser, key, code, begun, token, bearer }: Ben): Promise<string[]> {
  for (const one of [browser, begun]) one.server = server;
  const works = {
    session: (await browser.open("/account")).status === 200,
    bearer: (await me(server, bearer)).status === 200,
    token: (await ask(server, "/auth/verify", { headers: { Authorization: `Bearer ${token}` } })).status === 200,
    step: (await begun.submit("/login/code", { code })).headers.location === "/",
    passkey: await opens(server, key),
  };
  return Object.entries(works).flatMap(([name, isSo]) => (isSo ? [name] : []));
}

async function opens(server: Server, key: Authenticator): Promise<boolean> {
  const visitor = new DeviceBrowser(server);
  const options = (await visitor.send("GET", "/login/passkey")).json as Parameters<Authenticator["get"]>[0];
  return (await visitor.submit("/login/passkey", { answer: key.get(options, ORIGIN) })).headers.location === "/";
}

/** The session of the person of the environment, and a second factor. */
async function adaOn(server: Server) {
  const token = await logIn(server, ADA);
  await addTotp(server);
  return {
    async assertUnharmed(on: Server): Promise<void> {
      assert.equal((await me(on, token)).json.userId, "1");
      assert.equal((await tryLogin(on, ADA)).json.code, "second_factor_required");
    },
  };
}

/** Counts what the database has of ben. */
function rowsOf(server: Server, t: TestContext) {
  const database = openDatabase(join(server.dir, "data"));
  t.after(() => void database.close());
  const count = (text: string) => Number(database.prepare<[], { n: number }>(text).get()?.n);
  return () => ({
    factors: count("SELECT count(*) AS n FROM person_factors WHERE account = 'ben'"),
    codes: count("SELECT count(*) AS n FROM person_codes WHERE account = 'ben'"),
    logins: count("SELECT count(*) AS n FROM person_logins WHERE account = 'ben'"),
    networks: count("SELECT count(*) AS n FROM person_networks WHERE account = 'ben'"),
    tokens: count("SELECT count(*) AS n FROM machine_tokens WHERE name LIKE 'ben/%'"),
    sessions: count("SELECT count(*) AS n FROM sessions WHERE user_id = 'ben'"),
  });
}
const NO_ROWS = { factors: 0, codes: 0, logins: 0, networks: 0, tokens: 0, sessions: 0 };

suite("a person who is taken out of the file", () => {
  test("has nothing any more at the reload, and nothing of before when added again", async (t) => {
    const server = await start(t);
    const her = await adaOn(server);
    const his = await benOn(server);
    const rows = rowsOf(server, t);
    assert.deepEqual(rows(), { factors: 1, codes: 10, logins: 1, networks: 1, tokens: 1, sessions: 1 });
    await reload(server, { ada, cleo });
    assert.deepEqual(await worksOf(server, his), []);
    assert.equal((await tryLogin(server, BEN)).json.code, "invalid_credentials");
    await until(() => Object.values(rows()).every((count) => count === 0));
    assert.equal((await server.logged("session_revoked")).reason, "person_removed");
    await reload(server, { ada, ben, cleo });
    await until(async () => (await tryLogin(server, BEN)).status === 200);
    assert.deepEqual(await worksOf(server, his), []);
    const mark = his.browser.cookies.get("__Host-authserve-browser");
    assert.notEqual(mark, undefined);
    const shown = await his.browser.open("/login");
    assert.doesNotMatch(shown.text, /127\.0\.0/, "the mark of before tells nothing of the session");
    await her.assertUnharmed(server);
  });

  test("and added again in one reload after the other has nothing of before", async (t) => {
    const server = await start(t);
    const his = await benOn(server);
    await reload(server, { ada, cleo });
    await reload(server, { ada, ben, cleo });
    await until(async () => (await tryLogin(server, BEN)).status === 200);
    assert.deepEqual(await worksOf(server, his), []);
  });

  test("whose e-mail is another one is another person", async (t) => {
    const server = await start(t);
    const his = await benOn(server);
    const other = { ...BEN, email: "other@example.com" };
    await reload(server, { ada, ben: ben.replace(BEN.email, other.email), cleo });
    await until(async () => (await tryLogin(server, other)).status === 200);
    assert.equal((await tryLogin(server, BEN)).json.code, "invalid_credentials");
    assert.deepEqual(await worksOf(server, his), []);
    await reload(server, { ada, ben, cleo });
    await until(async () => (await tryLogin(server, BEN)).status === 200);
    assert.deepEqual(await worksOf(server, his), []);
  });

  test("who stays keeps all, whatever else of them the file changes", async (t) => {
    const server = await start(t);
    const his = await benOn(server);
    await reload(server, { ada, ben: ben.replace("family", "friends"), cleo });
    assert.deepEqual(await worksOf(server, his), ["session", "bearer", "token", "step", "passkey"]);
  });

  test("the last owner cannot be: the configuration before it stays", async (t) => {
    const server = await start(t);
    const her = await adaOn(server);
    writeFileSync(join(server.dir, "authserve.yaml"), peopleYaml({ ben, cleo }));
    server.signal("SIGHUP");
    const { errors } = await server.logged("config_reload_failed");
    assert.match(String(errors), /people.*found no owner, expected owner: true/);
    await her.assertUnharmed(server);
    const headers = { Authorization: `Bearer ${await logIn(server, BEN)}` };
    assert.equal((await ask(server, "/admin/api/status", { headers })).json.code, "owner_only");
  });
});

suite("a data directory of before, started with another file", () => {
  test("that is missing keeps what everybody has", async (t) => {
    const first = await start(t);
    const his = await benOn(first);
    await first.stop();
    rmSync(join(first.dir, "authserve.yaml"));
    const second = await startServer({ dir: first.dir, env: ENV });
    t.after(() => second[Symbol.asyncDispose]());
    assert.equal((await tryLogin(second, BEN)).json.code, "invalid_credentials");
    await second.stop();
    const third = await startWithPeople(t, { env: ENV, dir: first.dir });
    assert.deepEqual(await worksOf(third, his), ["session", "bearer", "token", "step", "passkey"]);
  });

  for (const [what, entries, login] of [
    ["without a person", { ada, cleo }, null],
    ["with another e-mail of a person", { ada, ben: ben.replace(BEN.email, "other@example.com"), cleo }, null],
    ["without people", null, null],
    ["without a person, and then with them again", { ada, cleo }, BEN],
  ] as const)
    test(`${what} gives back nothing of theirs, and the person of the environment keeps all`, async (t) => {
      const first = await start(t);
      const her = await adaOn(first);
      const his = await benOn(first);
      await first.stop();
      const restart = async (others: Record<string, string> | null) =>
        startWithPeople(t, { yaml: others ? peopleYaml(others) : "sources: {}\n", env: ENV, dir: first.dir });
      const second = await restart(entries);
      assert.deepEqual(await worksOf(second, his), []);
      await her.assertUnharmed(second);
      const rows = rowsOf(second, t);
      if (what !== "with another e-mail of a person") assert.deepEqual(rows(), NO_ROWS);
      if (login === null) return;
      await second.stop();
      const third = await restart({ ada, ben, cleo });
      assert.equal((await tryLogin(third, login)).status, 200);
      assert.deepEqual(await worksOf(third, his), []);
      await her.assertUnharmed(third);
    });

  test("in which the person of the environment is listed keeps what that person has", async (t) => {
    const first = await startWithPeople(t, { yaml: "sources: {}\n", env: ENV });
    const her = await adaOn(first);
    await first.stop();
    const second = await start(t, first.dir);
    await her.assertUnharmed(second);
    await second.stop();
    const third = await startWithPeople(t, { yaml: peopleYaml({ zoe: ada, ben }), env: ENV, dir: first.dir });
    await her.assertUnharmed(third);
  });
});
