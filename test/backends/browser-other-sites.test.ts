import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Browser } from "playwright-core";
import { needsChromium } from "../helpers/back-end.ts";
import { complaintsOf, fillIn, logInThere, openChromium, openProfile } from "../helpers/browser.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { startSite } from "../helpers/site.ts";
import { until } from "../helpers/until.ts";

const HOSTILE = [
  "https://evil.test/",
  "//evil.test/",
  "/\\evil.test/",
  "/\t/evil.test/",
  "javascript:alert(1)",
  "data:text/html,evil",
  "https://evil.test@127.0.0.1/",
];

const loginAt = ({ url }: Server, rd: string) => `${url}/login?rd=${encodeURIComponent(rd)}`;

suite("in Chromium, other sites", needsChromium(), () => {
  let browser: Browser;
  let server: Server;
  before(async () => {
    browser = await openChromium(["--host-resolver-rules=MAP rebound.test 127.0.0.1"]);
    server = await startServer();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  test("an allowed rd of another origin is named on the page, and the login leads there", async (context) => {
    const app = await startSite(context);
    await using server = await startServer({ env: { REDIRECT_ORIGINS: app.url } });
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await profile.newPage();
    await page.goto(loginAt(server, `${app.url}/page?a=b`));
    assert.equal(await page.locator("h1 + p strong").textContent(), new URL(app.url).host);
    await fillIn(page);
    assert.equal(page.url(), `${app.url}/page?a=b`);
    await page.goto(loginAt(server, `${app.url}/next`));
    assert.equal(page.url(), `${app.url}/next`);
    assert.deepEqual(complaints, []);
  });

  test("an app in a frame whose session has ended leads to the login page in the whole window", async (context) => {
    const app = await startSite(context);
    await using server = await startServer({ env: { REDIRECT_ORIGINS: app.url } });
    app.show(`<!doctype html><iframe src="${loginAt(server, `${app.url}/inner`)}"></iframe>`);
    await using profile = await openProfile(browser);
    const page = await profile.newPage();
    await page.goto(app.url);
    await page.frameLocator("iframe").getByRole("link").click();
    await page.waitForURL(loginAt(server, `${app.url}/inner`));
    await fillIn(page);
    assert.equal(page.url(), `${app.url}/inner`);
    // Another site may not show even that.
    const stranger = await startSite(context);
    stranger.show(`<!doctype html><iframe src="${server.url}/logout"></iframe>`);
    await page.goto(stranger.url);
    assert.equal(await page.frameLocator("iframe").getByRole("link").count(), 0);
  });

  test("a hostile rd leads to the start page", async () => {
    await using profile = await openProfile(browser);
    const page = await profile.newPage();
    for (const rd of HOSTILE) {
      await profile.clearCookies();
      await page.goto(loginAt(server, rd));
      await fillIn(page);
      assert.equal(page.url(), `${server.url}/`, rd);
    }
  });

  test("a page whose name was made to lead to this machine reads nothing and cannot log in", async () => {
    const { port } = server;
    await using profile = await openProfile(browser);
    const page = await profile.newPage();
    // A sender's deliveries may come to any name. From this page on, the browser takes all for one origin.
    const opened = await page.goto(`http://rebound.test:${port}/healthz`);
    assert.equal(opened?.status(), 200);
    const statuses = await page.evaluate(
      async ({ email, password }) => {
        const json = { "Content-Type": "application/json" };
        const login = { method: "POST", headers: json, body: JSON.stringify({ email, password }) };
        const asked = [
          fetch("/metrics"),
          fetch("/login"),
          fetch("/admin/"),
          fetch("/auth/me"),
          fetch("/auth/login", login),
        ];
        return (await Promise.all(asked)).map(({ status }) => status);
      },
      { email: EMAIL, password: PASSWORD },
    );
    assert.deepEqual(statuses, [421, 421, 421, 421, 421]);
  });

  for (const [what, host, site] of [
    ["another site", "localhost", "cross-site"],
    ["another port of this host", "127.0.0.1", "same-site"],
  ] as const) {
    test(`a login form on ${what} is refused, and the session lives on`, async (context) => {
      const evil = await startSite(context);
      evil.show(`<!doctype html><title>evil</title><form method="post" action="${server.url}/login">
        <input name="email" value="${EMAIL}"><input name="password" value="${PASSWORD}"><button>Play</button></form>`);
      await using profile = await openProfile(browser);
      const page = await profile.newPage();
      await logInThere(page, server.url);
      const other = await profile.newPage();
      await other.goto(evil.url.replace("127.0.0.1", host));
      const [answer] = await Promise.all([
        other.waitForResponse(`${server.url}/login`),
        other.getByRole("button").click(),
      ]);
      assert.equal((await answer.request().allHeaders())["sec-fetch-site"], site);
      assert.equal(answer.status(), 403);
      assert.equal(JSON.parse(await answer.text()).code, "cross_site_request");
      await page.reload();
      assert.equal(page.url(), `${server.url}/`);
    });

    test(`no page can be framed by ${what}`, async (context) => {
      const evil = await startSite(context);
      await using profile = await openProfile(browser);
      const complaints = await complaintsOf(profile);
      const page = await profile.newPage();
      for (const path of ["/login", "/"]) {
        if (path === "/") await logInThere(page, server.url);
        evil.show(`<!doctype html><title>evil</title><iframe src="${server.url}${path}"></iframe>`);
        complaints.length = 0;
        await page.goto(evil.url.replace("127.0.0.1", host));
        await until(() => complaints.some((text) => text.includes("frame-ancestors")));
        for (const frame of page.frames()) assert.equal(await frame.locator("form").count(), 0);
      }
    });
  }
});
