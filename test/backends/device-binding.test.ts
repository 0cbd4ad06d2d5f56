import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite, type TestContext, test } from "node:test";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { CHROMIUM, needsAll, needsChromium, needsNginx, needsPostgres, needsRedis } from "../helpers/back-end.ts";
import { fillIn } from "../helpers/browser.ts";
import { ask } from "../helpers/client.ts";
import { DeviceBrowser, proofOf } from "../helpers/device.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { APP, AUTH, loggedIn, PROXIES, siteOf, startSite } from "../helpers/protected-app.ts";
import { startRedis } from "../helpers/redis.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { PATIENT } from "../helpers/several-servers.ts";
import { startSite as startOtherSite } from "../helpers/site.ts";
import { pairNamed } from "../helpers/tls.ts";
import { HANG_MS, until } from "../helpers/until.ts";
import { PAGE, Visitor } from "../helpers/visitor.ts";
import { workingDir } from "../helpers/working-dir.ts";

const PROOF = "__Secure-authserve-device";
const DOMAIN = "https://example.com/.well-known/device-bound-sessions";

/**
 * Opens a Chromium with a profile on the disk, which binds sessions with keys in software. `domainPort` is where it
 * finds the domain of the cookie.
 */
async function openDevice(t: TestContext, proxyPort: number, domainPort = proxyPort): Promise<BrowserContext> {
  const { publicKey } = new X509Certificate(readFileSync(pairNamed("first").cert));
  const spki = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64");
  const proxy = `127.0.0.1:${proxyPort}`;
  const profile = await chromium.launchPersistentContext(workingDir(), {
    executablePath: CHROMIUM,
    chromiumSandbox: process.getuid?.() !== 0,
    locale: "en-GB",
    timeout: HANG_MS,
    args: [
      `--host-resolver-rules=MAP *.example.com:443 ${proxy}, MAP example.com:443 127.0.0.1:${domainPort}`,
      // With --ignore-certificate-errors it binds none.
      `--ignore-certificate-errors-spki-list=${spki}`,
      // Otherwise it proves a device a few times in some minutes.
      "--enable-features=DeviceBoundSessions:RefreshQuota/false,EnableBoundSessionCredentialsSoftwareKeysForManualTesting",
    ],
  });
  t.after(() => profile.close());
  profile.setDefaultTimeout(HANG_MS);
  return profile;
}

const pageOf = (profile: BrowserContext): Page => profile.pages()[0] ?? assert.fail("the profile has no page");

/** Waits until the browser has, or no longer has, the cookie that proves its device. */
const proofIs = (profile: BrowserContext, isThere: boolean) =>
  until(async () => (await profile.cookies(APP)).some(({ name }) => name === PROOF) === isThere);

/** How many requests about devices had this outcome. */
async function proofs(server: Server, outcome: string): Promise<number> {
  const { text } = await ask(server, "/metrics");
  return Number(new RegExp(`device_proofs_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

/** Opens the app until the browser has registered a key beside it, and then proved it: the number of bound sessions. */
const becomesBound = (page: Page, server: Server, count: number) =>
  until(async () => {
    await page.goto(`${APP}/`);
    return server.log("session_bound").length === count;
  });

/** Opens the app. Returns the status and the address of the page that it leads to. */
async function openApp(page: Page): Promise<[status: number | undefined, url: string]> {
  const response = await page.goto(`${APP}/`);
  return [response?.status(), page.url().replace(/\?.*/, "")];
}

suite("in Chromium, before an app behind nginx", needsAll(needsChromium(), needsNginx()), () => {
  test("a session is bound to its device, and is worth nothing in another one", async (t) => {
    await using site = await startSite("nginx", { DEVICE_BOUND: "5s" });
    const { proxy, server } = site;
    const profile = await openDevice(t, proxy.port);
    const page = pageOf(profile);
    await page.goto(`${APP}/`);
    assert.ok(page.url().startsWith(`${AUTH}/login`));
    await fillIn(page);
    assert.equal(page.url(), `${APP}/`);
    await becomesBound(page, server, 1);
    await proofIs(profile, true);
    await page.goto(`${AUTH}/account`);
    assert.equal(await page.locator('dt:text-is("Bound to this device") + dd').textContent(), "yes");

    // A thief has all cookies, and for a while they count.
    const stolen = await profile.cookies(APP);
    const cookie = stolen.map(({ name, value }) => `${name}=${value}`).join("; ");
    assert.ok(cookie.includes(PROOF));
    const thief = new Visitor(proxy.port);
    const steal = (url: string, headers = PAGE) => thief.request(url, { headers: { ...headers, cookie } });
    await until(async () => (await steal(`${APP}/`)).status === 302);
    assert.equal((await steal(`${APP}/`, { ...PAGE, accept: "*/*", "sec-fetch-mode": "cors" })).status, 401);
    assert.equal((await steal(`${AUTH}/`)).headers.location, "/login");
    const token = /__Secure-authserve=([^;]+)/.exec(cookie)?.[1];
    const bearer = await thief.request(`${AUTH}/auth/me`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(bearer.status, 401);

    // The browser itself goes on, also from a link of another site and in scripts of the app.
    await proofIs(profile, false);
    assert.deepEqual(await openApp(page), [200, `${APP}/`]);
    await proofIs(profile, false);
    const other = await startOtherSite(t);
    other.show(`<a href="${APP}/linked">to the app</a>`);
    await page.goto(other.url);
    await page.getByRole("link").click();
    await page.waitForURL(`${APP}/linked`);
    await proofIs(profile, false);
    assert.equal(await page.evaluate("fetch('/data').then(({ status }) => status)"), 200);

    // The cookies in another profile, which has no key of theirs.
    const second = await openDevice(t, proxy.port);
    await second.addCookies(stolen);
    const theirs = pageOf(second);
    await theirs.goto(`${APP}/`);
    assert.ok(theirs.url().startsWith(`${AUTH}/login`));
    assert.match(String(await theirs.locator(".note").textContent()), /this browser does not prove that it is there/);

    // A login there ends the session here. The browser is told, and its page tells who logged in.
    await fillIn(theirs);
    assert.equal(theirs.url(), `${APP}/`);
    await proofIs(profile, false);
    await page.goto(`${APP}/`);
    assert.match(String(await page.locator(".note").textContent()), /Another login replaced it/);
    assert.ok((await proofs(server, "ended")) > 0);

    // That browser is not asked for a key for a while. This one gets a new one.
    await theirs.goto(`${AUTH}/account`);
    const binding = theirs.locator('dt:text-is("Bound to this device") + dd');
    assert.match(String(await binding.textContent()), /lost its key before/);
    await fillIn(page);
    assert.equal(page.url(), `${APP}/`);
    await becomesBound(page, server, 2);
    await proofIs(profile, false);
    assert.deepEqual(await openApp(page), [200, `${APP}/`]);
    assert.deepEqual([await proofs(server, "registered"), await proofs(server, "refused")], [2, 0]);
  });

  test("without the path of the domain it stays as it was, also after the bound time", async (t) => {
    await using site = await startSite("nginx", { DEVICE_BOUND: "1s" });
    const { proxy, server } = site;
    const profile = await openDevice(t, proxy.port, proxy.httpPort);
    const page = pageOf(profile);
    await page.goto(`${APP}/`);
    await fillIn(page);
    // The domain does not answer there.
    await until(async () => (await proofs(server, "registered")) === 1);
    const registeredAt = Date.now();
    await until(async () => {
      assert.deepEqual(await openApp(page), [200, `${APP}/`]);
      return Date.now() > registeredAt + 2000;
    });
    assert.deepEqual([await proofs(server, "proved"), server.log("session_bound")], [0, []]);
  });
});

suite("the domain of the cookie names the login", () => {
  for (const [name, needsProxy] of PROXIES) {
    suite(name, needsProxy(), () => {
      const site = siteOf(name);
      test(`by the lines for ${name}`, async () => {
        const visitor = await loggedIn(site);
        const { status, text } = await visitor.request(DOMAIN, { headers: {} });
        assert.deepEqual([status, JSON.parse(text)], [200, { registering_origins: [AUTH] }]);
        assert.doesNotMatch((await visitor.request("https://example.com/login", { headers: PAGE })).text, /password/);
      });
    });
  }
});

suite("two servers that share sessions bind them together", { concurrency: 1 }, () => {
  const stores: Record<string, [{ skip: string | false }, (t: TestContext) => Promise<Record<string, string>>]> = {
    PostgreSQL: [needsPostgres(), async (t) => ({ DATABASE_URL: (await tempPostgres(t)).url })],
    Redis: [needsRedis(), async (t) => ({ REDIS_HOST: "127.0.0.1", REDIS_PORT: String((await startRedis(t)).port) })],
  };
  for (const [name, [needed, shared]] of Object.entries(stores)) {
    test(`in ${name}`, needed, async (t) => {
      const proxied = { PUBLIC_URL: AUTH, TRUSTED_PROXIES: "127.0.0.1", DEVICE_BOUND: "1s" };
      const env = { ...PATIENT, ...proxied, ...(await shared(t)) };
      const [one, other] = await Promise.all([startServer({ env }), startServer({ env })]);
      for (const server of [one, other]) t.after(() => server[Symbol.asyncDispose]());
      const browser = new DeviceBrowser(one);
      await browser.logIn();
      browser.server = other;
      assert.equal((await browser.register()).status, 200);
      const answer = await proofOf(await browser.key, { jti: await browser.challenge() });
      const answerAt = (server: Server) => {
        browser.server = server;
        return browser.refresh(answer);
      };
      const answers = await Promise.all([one, other, one, other].map(answerAt));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403, 403]);
      const statusAt = async (server: Server) => {
        browser.server = server;
        return (await browser.send("GET", "/auth/me")).status;
      };
      await until(async () => (await statusAt(one)) === 401 && (await statusAt(other)) === 401);
      // On a machine that stalls, a proof may be over before it is used.
      await until(async () => {
        browser.server = one;
        await browser.prove();
        return (await statusAt(other)) === 200;
      });
    });
  }
});
