import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { checkBinding } from "../../src/cli/checks/network.ts";
import { ask } from "../helpers/client.ts";
import { challengeIn, DeviceBrowser, newKey, proofOf } from "../helpers/device.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const ENV = { PUBLIC_URL: "https://auth.example.com", COOKIE_DOMAIN: "example.com", TRUSTED_PROXIES: "127.0.0.1" };
const PROOF = "__Secure-authserve-device";
const UNPROVED = "__Host-authserve-unproved";
const ACCESS = "access:\n  - { host: vault.example.com, allow: [session, token], bound: true }\n";

async function start(t: TestContext, env: Record<string, string> = {}, dir = workingDir()): Promise<Server> {
  writeFileSync(join(dir, "authserve.yaml"), ACCESS);
  const server = await startServer({ env: { ...ENV, ACCESS_LOG: "on", ...env }, dir });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

/** What a proxy asks about a page, or about a request of a script. */
const question = (host = "app.example.com") => ({
  "x-original-url": `https://${host}/a`,
  "x-original-method": "GET",
  "x-forwarded-for": "198.51.100.7",
});

/**
 * A browser whose session is bound, and must be proved from now on: its first proof has expired. The server that it
 * then uses gives proofs that outlast the test.
 */
async function boundBrowser(t: TestContext) {
  const short = await start(t, { DEVICE_BOUND: "1s" });
  const begun = new DeviceBrowser(short);
  await begun.logInBound();
  await until(async () => (await begun.send("GET", "/auth/me")).status === 401);
  await short.stop();
  const server = await start(t, {}, short.dir);
  const browser = new DeviceBrowser(server);
  browser.key = begun.key;
  browser.sid = begun.sid;
  for (const [name, value] of begun.cookies) browser.cookies.set(name, value);
  return { server, browser };
}

suite("a session that is bound to its device", () => {
  test("is offered after a login, and tells the browser its scope and its cookie", async (t) => {
    const browser = new DeviceBrowser(await start(t));
    const { headers, setCookies } = await browser.logIn();
    const offer = /^\(ES256 RS256\);path="https:\/\/auth\.example\.com\/auth\/bound\/register";challenge="[\w.-]+"$/;
    assert.match(String(headers["secure-session-registration"]), offer);
    assert.equal(setCookies.length, 2);
    const registered = await browser.register();
    assert.deepEqual([registered.status, registered.setCookies], [200, []]);
    const attributes = "Path=/; HttpOnly; SameSite=Lax; Secure; Domain=example.com";
    assert.deepEqual(registered.json, {
      session_identifier: browser.sid,
      refresh_url: "https://auth.example.com/auth/bound/refresh",
      scope: { origin: "https://example.com", include_site: true },
      credentials: [{ type: "cookie", name: PROOF, attributes }],
      allowed_refresh_initiators: ["*"],
    });
    const proved = await browser.prove();
    assert.deepEqual(proved.json, registered.json);
    assert.match(String(proved.setCookies[0]), new RegExp(`^${PROOF}=[^;]+; Max-Age=540; ${attributes}$`));
    assert.equal((await browser.server.logged("session_bound")).userId, "1");
    const known = await browser.send("GET", "/.well-known/device-bound-sessions", { host: "example.com" });
    assert.deepEqual(known.json, { registering_origins: ["https://auth.example.com"] });
  });

  test("without COOKIE_DOMAIN is that of one host", async (t) => {
    const server = await startServer({ env: { PUBLIC_URL: "https://auth.example.com:8443/sso" } });
    t.after(() => server[Symbol.asyncDispose]());
    const browser = new DeviceBrowser(server);
    browser.key = newKey("RS256");
    await browser.logIn();
    const { scope, credentials } = (await browser.register()).json as Record<string, object[]>;
    assert.deepEqual(scope, { origin: "https://auth.example.com:8443", include_site: false });
    const attributes = "Path=/; HttpOnly; SameSite=Lax; Secure";
    assert.deepEqual(credentials, [{ type: "cookie", name: "__Host-authserve-device", attributes }]);
    await browser.prove();
  });

  test("needs a proof on the page, in the API, as a Bearer token, and behind a proxy", async (t) => {
    const { browser } = await boundBrowser(t);
    const stolen = `Bearer ${browser.cookies.get("__Secure-authserve")}`;
    const me = () => browser.send("GET", "/auth/me");
    const asBearer = () => browser.send("GET", "/auth/me", { authorization: stolen });
    const verify = () => browser.send("GET", "/auth/verify", question());
    for (const refused of [await me(), await asBearer(), await verify()])
      assert.deepEqual([refused.status, refused.json.code], [401, "device_not_proved"]);
    const page = await browser.open("/auth/verify", question());
    assert.deepEqual(
      [page.status, page.headers.location],
      [401, `https://auth.example.com/login?rd=${encodeURIComponent("https://app.example.com/a")}`],
    );
    assert.equal((await browser.open("/")).headers.location, "/login");

    await browser.prove();
    const earlier = browser.cookies.get(PROOF) ?? "";
    for (const passed of [await me(), await asBearer(), await verify(), await browser.open("/")])
      assert.equal(passed.status, 200);
    // Several tabs may refresh at once.
    await browser.prove();
    browser.cookies.set(PROOF, earlier);
    assert.equal((await me()).status, 200);
    browser.cookies.set(
      PROOF,
      earlier.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
    );
    assert.equal((await me()).status, 401);
  });

  test("stays as it was until the browser has proved its device: it may have dropped the session", async (t) => {
    const server = await start(t, { DEVICE_BOUND: "1s" });
    const browser = new DeviceBrowser(server);
    await browser.logIn();
    await browser.register();
    // A challenge alone proves nothing.
    await browser.challenge();
    assert.equal((await browser.send("GET", "/auth/me")).status, 200);
    assert.match((await browser.open("/account", { "accept-language": "en" })).text, /this browser has not offered it/);
  });

  test("ends with a login elsewhere: the browser is told to drop it", async (t) => {
    const { browser, server } = await boundBrowser(t);
    await browser.prove();
    const other = new DeviceBrowser(server);
    await other.logIn();
    const over = await browser.refresh();
    assert.deepEqual([over.status, over.json], [200, { session_identifier: browser.sid, continue: false }]);
    assert.equal((await browser.send("GET", "/auth/me")).json.code, "session_invalidated");
    assert.deepEqual((await other.refresh(undefined, "unknown")).json.continue, false);
  });

  test("is bound again by the next login, whose browser drops the earlier proof", async (t) => {
    const { browser } = await boundBrowser(t);
    await browser.prove();
    const { setCookies } = await browser.logIn();
    assert.ok(setCookies.some((line) => line.startsWith(`${PROOF}=; Max-Age=0; `)));
    assert.equal((await browser.register()).status, 200);
    await browser.prove();
    assert.match(
      (await browser.open("/account", { "accept-language": "en" })).text,
      /Bound to this device<\/dt><dd>yes/,
    );
  });
});

suite("a refused device", () => {
  test("gets a new challenge: another key, algorithm, session or purpose, and what was used before", async (t) => {
    const { browser, server } = await boundBrowser(t);
    const key = await browser.key;
    const used = await browser.challenge();
    const answer = await proofOf(key, { jti: used });
    assert.equal((await browser.refresh(answer)).status, 200);
    const older = await browser.challenge();
    const hostile: Record<string, string> = {
      "the same answer": answer,
      "a used challenge, signed again": await proofOf(key, { jti: used }),
      "another key": await proofOf(await newKey(), { jti: await browser.challenge() }),
      "another key, which it names": await proofOf(await newKey(), { jti: await browser.challenge() }, key.jwk),
      "a key of RSA": await proofOf(await newKey("RS256"), { jti: await browser.challenge() }),
      "another algorithm": await proofOf(await newKey("ES384"), { jti: await browser.challenge() }),
      "a secret": await proofOf(key, {
        jti: await browser.challenge(),
        alg: "HS256",
        by: new TextEncoder().encode(JSON.stringify(key.jwk)),
      }),
      "no algorithm": `${Buffer.from('{"alg":"none","typ":"dbsc+jwt"}').toString("base64url")}.${Buffer.from(JSON.stringify({ jti: older })).toString("base64url")}.`,
      "another type": await proofOf(key, { jti: await browser.challenge(), typ: "JWT" }),
      "the challenge of a registration": await proofOf(key, { jti: browser.offered ?? "" }),
      "no challenge": await proofOf(key, { jti: undefined }),
      "a changed challenge": await proofOf(key, { jti: older.replace(/\.[0-9]+\./, `.${Date.now() + 1000}.`) }),
      "no token": "abc",
      "a long token": `${answer}${"A".repeat(5000)}`,
    };
    for (const [what, proof] of Object.entries(hostile)) {
      const refused = await browser.refresh(proof);
      assert.deepEqual(
        [refused.status, refused.json.code, refused.setCookies],
        [403, "invalid_device_proof", []],
        what,
      );
      assert.notEqual(challengeIn(refused), used, what);
    }
    const reasons = server.log("device_refused").map(({ reason }) => reason);
    assert.equal(reasons.length, Object.keys(hostile).length);
    assert.match((await ask(server, "/metrics")).text, /device_proofs_total\{outcome="refused"\} 14\b/);
    // A new one, asked for before another was used, comes too late; the browser then takes the next.
    await browser.prove();
    const late = await browser.refresh(await proofOf(key, { jti: older }));
    assert.equal(late.status, 403);
    assert.equal((await browser.refresh(await proofOf(key, { jti: challengeIn(late) }))).status, 200);

    const other = new DeviceBrowser(server);
    other.key = browser.key;
    const ofFirst = await browser.challenge();
    await other.logInBound();
    const crossed = await other.refresh(await proofOf(key, { jti: ofFirst }));
    assert.equal(crossed.status, 403);
    assert.equal(
      (await other.refresh(await proofOf(key, { jti: await other.challenge() }), browser.sid)).json.continue,
      false,
    );
  });

  test("is not registered: without the session, a second time, with a small key, or another challenge", async (t) => {
    const server = await start(t);
    const browser = new DeviceBrowser(server);
    await browser.logIn();
    const key = await browser.key;
    const registers = async (signed: Parameters<typeof proofOf>[1], jwk: object | null = key.jwk, by = key) =>
      (await browser.register(await proofOf(by, signed, jwk))).json.code;
    const other = new DeviceBrowser(server);
    const jti = browser.offered;
    const noSession = await other.register(await proofOf(key, { jti }, key.jwk));
    assert.deepEqual([noSession.status, noSession.json.code], [401, "missing_token"]);
    const refused = "invalid_device_proof";
    assert.equal(await registers({ jti }, null), refused);
    assert.equal(await registers({ jti }, (await newKey()).jwk), refused);
    assert.equal(await registers({ jti: "c1" }), refused);
    assert.equal(await registers({ jti, typ: "JWT" }), refused);
    assert.equal(await registers({ jti }, (await newKey("ES384")).jwk, await newKey("ES384")), refused);
    const secret = Buffer.alloc(32, 1);
    assert.equal(
      await registers({ jti, alg: "HS256", by: secret }, { kty: "oct", k: secret.toString("base64url") }),
      refused,
    );
    assert.equal(await registers({ jti }), undefined);
    assert.equal(await registers({ jti }), refused);
    assert.equal(await registers({ jti: await browser.challenge() }), refused);
    await browser.prove();
    // The second one would replace the device.
    assert.equal(await registers({ jti }), refused);
  });
});

suite("a browser that has lost its key", () => {
  test("is told why it must log in, and is not asked for a key for a day", async (t) => {
    const { browser, server } = await boundBrowser(t);
    const page = await browser.open("/login", { "accept-language": "en" });
    assert.match(page.text, /bound to the device that opened it, and this browser does not prove that it is there/);
    assert.match(String(page.setCookies), new RegExp(`^${UNPROVED}=1; Max-Age=86400; `));
    assert.equal((await server.logged("device_not_proved")).skipped, null);
    const { headers } = await browser.logIn();
    assert.equal(headers["secure-session-registration"], undefined);
    assert.equal((await browser.send("GET", "/auth/me")).status, 200);
    assert.match((await browser.open("/account", { "accept-language": "en" })).text, /lost its key before/);
    browser.cookies.delete(UNPROVED);
    assert.ok((await browser.logIn()).headers["secure-session-registration"]);
  });

  test("is not taken for one that could not prove its device this time, and does so later", async (t) => {
    const { browser, server } = await boundBrowser(t);
    const skipped = `unreachable;session_identifier="${browser.sid}"`;
    const page = await browser.open("/login", { "accept-language": "en", "secure-session-skipped": skipped });
    assert.match(page.text, /Reload this page in a moment/);
    assert.equal((await server.logged("device_not_proved")).skipped, skipped);
    await browser.prove();
    assert.equal((await browser.open("/login")).headers.location, "/");
    assert.ok(!browser.cookies.has(UNPROVED));
  });
});

suite("an entry of access with bound", () => {
  test("lets only a bound session pass, and leads a browser to a page that waits for it", async (t) => {
    const { browser, server } = await boundBrowser(t);
    const vault = question("vault.example.com");
    await browser.prove();
    assert.equal((await browser.open("/auth/verify", vault)).status, 200);
    await browser.logIn();
    const refused = await browser.send("GET", "/auth/verify", vault);
    assert.deepEqual([refused.status, refused.json.code], [403, "session_not_bound"]);
    assert.equal((await browser.send("GET", "/auth/verify", question())).status, 200);
    const bound = `/login/bound?rd=${encodeURIComponent("https://vault.example.com/a")}`;
    assert.equal((await browser.open("/auth/verify", vault)).headers.location, `https://auth.example.com${bound}`);
    const waiting = await browser.open(bound, { "accept-language": "en" });
    assert.deepEqual([waiting.status, waiting.headers.refresh], [200, "1"]);
    await until(async () => (await browser.open(bound)).headers.refresh === undefined);
    const told = await browser.open(bound, { "accept-language": "en" });
    assert.match(told.text, /Your session is not bound/);
    await browser.register();
    await browser.prove();
    assert.equal((await browser.open(bound)).headers.location, "https://vault.example.com/a");
    assert.equal((await browser.open("/auth/verify", vault)).status, 200);
    const logged = async () => JSON.parse((await server.run(["access", "log", "--json"])).stdout) as object[];
    await until(async () => (await logged()).length === 5);
    assert.deepEqual(
      (await logged()).map((entry) => [
        Reflect.get(entry, "decision"),
        Reflect.get(entry, "isBound"),
        Reflect.get(entry, "code"),
      ]),
      [
        ["allowed", true, null],
        ["denied", false, "session_not_bound"],
        ["allowed", false, null],
        ["denied", false, "session_not_bound"],
        ["allowed", true, null],
      ],
    );
  });

  test("needs a session in allow", async () => {
    const server = await startServer();
    await using _ = server;
    writeFileSync(join(server.dir, "authserve.yaml"), "access:\n  - { path: /a, allow: [token], bound: true }\n");
    const { code, stderr, stdout } = await server.run(["config", "check"]);
    assert.notEqual(code, 0);
    assert.match(stderr + stdout, /bound: is only for a session: add session to allow/);
  });
});

test("without TLS, and with DEVICE_BOUND=off, no session is bound", async (t) => {
  const plain = await startServer();
  t.after(() => plain[Symbol.asyncDispose]());
  for (const server of [plain, await start(t, { DEVICE_BOUND: "off" })]) {
    const browser = new DeviceBrowser(server);
    assert.equal((await browser.logIn()).headers["secure-session-registration"], undefined);
    assert.equal((await browser.refresh()).status, 404);
    assert.doesNotMatch((await browser.open("/account", { "accept-language": "en" })).text, /Bound to this device/);
  }
});

test("doctor asks the domain of the cookie what browsers ask it", async (t) => {
  const server = await start(t);
  const settings = { PUBLIC_URL: ENV.PUBLIC_URL, COOKIE_DOMAIN: "example.com", DEVICE_BOUND: 600_000 };
  // Its names do not lead to this machine.
  const asked: string[] = [];
  const get = (url: string) => {
    asked.push(url);
    return fetch(server.url + new URL(url).pathname, { headers: { host: "example.com" } });
  };
  const verdict = async (changes: Partial<typeof settings>, answer = get) => {
    const [finding] = await checkBinding({ ...settings, ...changes }, answer);
    return finding && `${finding.verdict}: ${finding.found}`;
  };
  assert.equal(await verdict({}), "ok: example.com lets browsers bind sessions to their device");
  assert.deepEqual(asked, ["https://example.com/.well-known/device-bound-sessions"]);
  assert.match(String(await verdict({ PUBLIC_URL: "https://auth.example.com:8443" })), /does not name the origin/);
  assert.match(String(await verdict({}, () => fetch(`${server.url}/nothing`))), /^warning: .* says 404$/);
  assert.match(String(await verdict({}, () => fetch("http://127.0.0.1:1"))), /does not answer \(.*/);
  const deep = { COOKIE_DOMAIN: "lab.example.com", PUBLIC_URL: "https://auth.lab.example.com" };
  assert.match(String(await verdict(deep)), /^warning: .* only for all of example.com, and COOKIE_DOMAIN is lab/);
  for (const none of [{ DEVICE_BOUND: 0 }, { PUBLIC_URL: "https://example.com" }])
    assert.equal(await verdict(none), undefined);
});
