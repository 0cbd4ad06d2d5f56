import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { Authenticator } from "../helpers/authenticator.ts";
import { ask, logIn, me, tryLogin } from "../helpers/client.ts";
import { cheapHash } from "../helpers/credentials.ts";
import { clockOff, needsFaketime } from "../helpers/fake-clock.ts";
import { BEN, dirWithBen, invite, writePeople } from "../helpers/invitations.ts";
import { PageClient } from "../helpers/page-client.ts";
import { type Server, startServer } from "../helpers/server.ts";

const ORIGIN = "https://auth.example.com";
const BASE = `${ORIGIN}/in`;
const COOKIE = "__Host-authserve-invitation";

const pathOf = (link: string) => link.slice(BASE.length);
const keyOf = (link: string) => new URL(link).searchParams.get("key") ?? "";

suite("a link of people invite", () => {
  let server: Server;
  before(async () => {
    server = await startServer({ env: { PUBLIC_URL: BASE, HASH: await cheapHash("x") }, dir: dirWithBen() });
  });
  after(() => server[Symbol.asyncDispose]());

  const browser = () => new PageClient(server, { "accept-language": "en" });
  const audited = async () => JSON.parse((await server.run(["audit", "list", "--json"])).stdout);

  test("lets the first browser that opens it set a password, once", async () => {
    const link = await invite(server);
    assert.match(link, /^https:\/\/auth\.example\.com\/in\/invite\?key=[\w-]{43}$/);
    const first = browser();
    const page = await first.open(pathOf(link));
    assert.equal(page.status, 200);
    assert.match(page.text, /<strong>Ben<\/strong><br><strong>ben@example\.com<\/strong>/);
    assert.match(page.text, /<input [^>]*autocomplete="new-password"/);
    assert.equal(page.headers["cache-control"], "no-store");
    assert.match(
      String(page.headers["set-cookie"]),
      new RegExp(`^${COOKIE}=[\\w-]{43}; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax; Secure$`),
    );
    const sent = await first.send("/invite", { key: keyOf(link), password: BEN.password });
    assert.deepEqual([sent.status, sent.location], [303, "/in/login?rd=%2Fin%2Faccount"]);
    const token = await logIn(server, BEN);
    assert.equal((await me(server, token)).json.userId, "ben");

    const closed = await first.open(pathOf(link));
    assert.equal(closed.status, 404);
    assert.equal((await first.send("/invite", { key: keyOf(link), password: "another password" })).status, 404);
    assert.equal((await me(server, token)).status, 200, "a used link ends no session");
    assert.ok(!server.stdout().includes(keyOf(link)), "the log has no key");

    const [row] = await audited();
    assert.deepEqual([row.who, row.action, row.detail.person], ["invitation:ben", "person.password", "ben"]);
  });

  test("ends the session of the earlier password", async () => {
    const link = await invite(server);
    const client = browser();
    await client.open(pathOf(link));
    await client.send("/invite", { key: keyOf(link), password: BEN.password });
    const token = await logIn(server, BEN);
    const again = await invite(server);
    await client.open(pathOf(again));
    assert.equal((await me(server, token)).status, 200);
    const password = "the next password of ben";
    assert.equal((await client.send("/invite", { key: keyOf(again), password })).status, 303);
    assert.equal((await me(server, token)).status, 401);
    assert.equal(server.log("session_revoked").at(-1)?.reason, "invitation");
    assert.equal((await tryLogin(server, BEN)).status, 401);
    await logIn(server, { ...BEN, password });
  });

  test("is worth nothing in another browser, which reads what a stranger reads", async () => {
    const link = await invite(server);
    await browser().open(pathOf(link));
    const other = browser();
    const bodies = new Set<string>();
    for (const path of [pathOf(link), "/invite?key=x", "/invite", `/invite?key=${"x".repeat(43)}`]) {
      const { status, text } = await other.open(path);
      assert.equal(status, 404);
      bodies.add(text);
    }
    assert.equal(bodies.size, 1);
    const sent = await other.send("/invite", { key: keyOf(link), password: BEN.password });
    assert.equal(sent.status, 404);
    assert.deepEqual([...other.cookies], []);
    assert.equal((await ask(server, `/invite/passkey?key=${keyOf(link)}`)).json.code, "not_found");
  });

  test("is not taken by what previews it", async () => {
    const link = await invite(server);
    for (const headers of [
      { "User-Agent": "WhatsApp/2.23.20.0" },
      { "User-Agent": "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)" },
      { "Sec-Purpose": "prefetch;prerender" },
    ] as Record<string, string>[]) {
      const { status, text, headers: answered } = await ask(server, pathOf(link), { headers });
      assert.equal(status, "Sec-Purpose" in headers ? 503 : 200);
      assert.ok(!text.includes(BEN.email));
      assert.equal(answered.get("set-cookie"), null);
    }
    assert.equal((await ask(server, pathOf(link), { method: "HEAD" })).status, 200);
    const phone = "Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20) AppleWebKit/537.36 Chrome/90.0 Mobile Safari/537.36";
    assert.match((await browser().open(pathOf(link), { "user-agent": phone })).text, /ben@example\.com/);
  });

  test("is not used up by a password that is refused, nor from another site", async () => {
    const link = await invite(server);
    const client = browser();
    await client.open(pathOf(link));
    const send = (password: string, headers: Record<string, string> = {}) =>
      client.send("/invite", { key: keyOf(link), password }, headers);
    for (const password of ["short", "x".repeat(1025), "Password123!"]) {
      const { status, text } = await send(password);
      assert.equal(status, 400);
      assert.match(text, /role="alert" id="error">.*aria-invalid="true"/s);
    }
    assert.equal((await send(BEN.password, { "sec-fetch-site": "cross-site" })).status, 403);
    assert.equal((await send(BEN.password)).status, 303);
  });

  test("is worth nothing once there is a new one", async () => {
    const [old, link] = [await invite(server), await invite(server)];
    assert.equal((await browser().open(pathOf(old))).status, 404);
    assert.equal((await browser().open(pathOf(link))).status, 200);
  });

  test("works for an hour", needsFaketime(), async () => {
    assert.equal((await browser().open(pathOf(await invite(server, "ben", clockOff("-30m"))))).status, 200);
    assert.equal((await browser().open(pathOf(await invite(server, "ben", clockOff("-61m"))))).status, 404);
  });

  test("adds a passkey, which the person can log in with", async () => {
    const link = await invite(server);
    const client = browser();
    const { text } = await client.open(pathOf(link));
    assert.match(text, new RegExp(`data-options="invite/passkey\\?key=${keyOf(link)}"`));
    const key = new Authenticator();
    const wrong = await client.send("/invite/passkey", { key: keyOf(link), answer: "{}" });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /action="\.\.\/invite\/passkey".*action="\.\.\/invite"/s);
    const options = JSON.parse((await client.open(`/invite/passkey?key=${keyOf(link)}`)).text);
    assert.equal(options.user.name, BEN.email);
    const answer = key.create(options, ORIGIN);
    const added = await client.send("/invite/passkey", { key: keyOf(link), answer, name: "phone" });
    assert.deepEqual([added.status, added.location], [303, "/in/login?rd=%2Fin%2Faccount"]);
    assert.equal((await client.open(pathOf(link))).status, 404);
    const [row] = await audited();
    assert.deepEqual([row.who, row.action, row.detail.name], ["invitation:ben", "factor.add", "phone"]);

    const login = JSON.parse((await client.open("/login/passkey")).text);
    const signed = { answer: key.get(login, ORIGIN), rd: "/in/account" };
    assert.equal((await client.send("/login/passkey", signed)).location, "/in/account");
    const account = (await client.open("/account")).text;
    assert.match(account, /<strong>phone<\/strong>/);
    assert.match(account, /0 recovery codes are left/);
  });

  // The last ones: they change who is in the file.
  test("offers no password to whom the file has one for", async () => {
    writePeople(server.dir, { ben: { email: BEN.email, passwordHash: "env:HASH" } });
    assert.equal((await server.run(["reload"])).code, 0);
    const link = await invite(server);
    const client = browser();
    assert.doesNotMatch((await client.open(pathOf(link))).text, /type="password"/);
    assert.equal((await client.send("/invite", { key: keyOf(link), password: BEN.password })).status, 400);
  });

  test("is worth nothing once the person is gone", async () => {
    const link = await invite(server);
    writePeople(server.dir, { eve: { email: "eve@example.com" } });
    assert.equal((await server.run(["reload"])).code, 0);
    assert.equal((await browser().open(pathOf(link))).status, 404);
  });
});

suite("authserve people invite", () => {
  test("prints the link and its end as JSON", async () => {
    await using server = await startServer({ env: { PUBLIC_URL: ORIGIN }, dir: dirWithBen() });
    const { stdout, stderr } = await server.run(["people", "invite", "ben", "--json"]);
    const { name, url, expiresAt } = JSON.parse(stdout);
    assert.deepEqual([name, url.slice(0, ORIGIN.length + 12)], ["ben", `${ORIGIN}/invite?key=`]);
    assert.ok(Date.parse(expiresAt) > Date.now());
    assert.equal(JSON.parse(stderr).event, "person_invited");
    assert.ok(!stderr.includes(keyOf(url)));
  });

  test("says who cannot be invited, and what to do", async () => {
    await using server = await startServer({ env: { PUBLIC_URL: ORIGIN }, dir: dirWithBen() });
    const refusal = async (name: string, env: Record<string, string | undefined> = {}) => {
      const { code, stdout, stderr } = await server.run(["people", "invite", name], env);
      assert.notEqual(code, 0);
      assert.equal(stdout, "");
      return stderr;
    };
    assert.match(await refusal("bob"), /There is no person bob\n.*: name one of ada, ben$/m);
    assert.match(await refusal("ada"), /ada is the person of DEMO_EMAIL.*\n.*: log in with it, and add .* \/account/);
    assert.match(await refusal("ben", { PUBLIC_URL: undefined }), /PUBLIC_URL, which is not set/);
    const hash = await cheapHash("x");
    writePeople(server.dir, {
      cy: { email: "cy@example.com" },
      ben: { email: BEN.email, passwordHash: "env:HASH" },
    });
    assert.match(
      await refusal("cy", { HASH: hash }),
      /No server has taken over cy .*\n.*: start the server, or run .* reload/,
    );
    assert.match(
      await refusal("ben", { HASH: hash, PUBLIC_URL: "http://127.0.0.1:3000" }),
      /no passkeys at PUBLIC_URL/,
    );
  });

  test("has no pages without people in the file", async () => {
    await using server = await startServer({ env: { PUBLIC_URL: ORIGIN } });
    assert.equal((await ask(server, "/invite?key=x")).json.code, "not_found");
  });
});
