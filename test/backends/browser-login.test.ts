import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { needsChromium } from "../helpers/back-end.ts";
import { complaintsOf, fillIn, logInThere, openChromium, openProfile } from "../helpers/browser.ts";
import { logIn } from "../helpers/client.ts";
import { EMAIL } from "../helpers/credentials.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { startSite } from "../helpers/site.ts";

const FIREFOX = { userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0" };

const factOf = (page: Page, name: string) => page.locator(`dt:text-is("${name}") + dd`).textContent();

suite("in Chromium", needsChromium(), () => {
  let browser: Browser;
  let server: Server;
  before(async () => {
    browser = await openChromium();
    server = await startServer();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  for (const [scripts, javaScriptEnabled] of [
    ["with scripts", true],
    ["without scripts", false],
  ] as const) {
    test(`${scripts}, a user logs in by typing, sees the session, and logs out`, async () => {
      await using profile = await openProfile(browser, { javaScriptEnabled });
      const complaints = await complaintsOf(profile);
      const page = await profile.newPage();

      await page.goto(server.url);
      assert.equal(page.url(), `${server.url}/login`);
      await page.locator("#email:focus").waitFor();
      await page.keyboard.type(EMAIL);
      await fillIn(page, { email: await page.locator("#email").inputValue() });
      assert.equal(page.url(), `${server.url}/`);
      assert.equal(await page.locator("strong").textContent(), EMAIL);
      assert.match(String(await factOf(page, "Since")), /^\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d UTC$/);
      assert.deepEqual([await factOf(page, "Browser"), await factOf(page, "Network")], ["Chrome", "127.0.0.0/24"]);

      await page.getByRole("button", { name: "Log out" }).click();
      await page.waitForURL(`${server.url}/login`);
      // The mark stays, because the next login needs it.
      assert.deepEqual(
        (await profile.cookies()).map(({ name }) => name),
        ["authserve-browser"],
      );
      await page.goto(server.url);
      assert.equal(page.url(), `${server.url}/login`);
      assert.deepEqual(complaints, []);
    });

    test(`${scripts}, a wrong password shows an alert, keeps the e-mail, and has the focus on the password`, async () => {
      await using profile = await openProfile(browser, { javaScriptEnabled });
      const page = await profile.newPage();
      await logInThere(page, server.url, { password: "wrong password" });
      assert.match(String(await page.getByRole("alert").textContent()), /^The e-mail or the password is wrong/);
      assert.equal(await page.locator("#email").inputValue(), EMAIL);
      assert.equal(await page.locator("#password").inputValue(), "");
      await page.locator("#password:focus").waitFor();
      await fillIn(page);
      assert.equal(page.url(), `${server.url}/`);
    });

    test(`${scripts}, the page of a replaced session leads to the login page, which tells who replaced it`, async () => {
      await using profile = await openProfile(browser, { javaScriptEnabled });
      await using other = await openProfile(browser, { javaScriptEnabled, ...FIREFOX });
      const [first, second] = [await profile.newPage(), await other.newPage()];
      await logInThere(first, server.url);
      await logInThere(second, server.url);
      await first.reload();
      assert.equal(first.url(), `${server.url}/login`);
      const note = String(await first.locator(".note").textContent());
      assert.match(note, /Another login replaced it: Firefox, from the network 127\.0\.0\.0\/24, .* UTC\./);
      await second.reload();
      assert.equal(second.url(), `${server.url}/`);
    });
  }

  test("the part after # of a link survives the login, a wrong password, and a stay on the page", async (context) => {
    const app = await startSite(context);
    await using server = await startServer({ env: { REDIRECT_ORIGINS: app.url } });
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await profile.newPage();
    const wanted = `${app.url}/?a=1#/deep/link?b=%20\\x`;
    await page.goto(`${server.url}/login?rd=${encodeURIComponent(`${app.url}/?a=1`)}#/deep/link?b=%20\\x`);
    await fillIn(page, { password: "wrong password" });
    await fillIn(page);
    assert.equal(page.url(), wanted.replace("\\", "%5C"));
    // A link that has its own is not changed.
    await profile.clearCookies();
    await page.goto(`${server.url}/login?rd=${encodeURIComponent(`${app.url}/#own`)}#other`);
    await fillIn(page);
    assert.equal(page.url(), `${app.url}/#own`);
    assert.deepEqual(
      complaints.filter((text) => !text.includes("401")),
      [],
    );
  });

  test("without scripts the login works, and drops the part after #", async (context) => {
    const app = await startSite(context);
    await using server = await startServer({ env: { REDIRECT_ORIGINS: app.url } });
    await using profile = await openProfile(browser, { javaScriptEnabled: false });
    const page = await profile.newPage();
    await page.goto(`${server.url}/login?rd=${encodeURIComponent(`${app.url}/?a=1`)}#/deep`);
    await fillIn(page);
    assert.equal(page.url(), `${app.url}/?a=1`);
  });

  test("after logging out, the way back leads to the login page", async () => {
    await using profile = await openProfile(browser);
    const page = await profile.newPage();
    await logInThere(page, server.url);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(`${server.url}/login`);
    await page.goBack();
    assert.doesNotMatch(await page.content(), new RegExp(EMAIL));
    assert.equal(page.url(), `${server.url}/login`);
  });

  test("a login on another device by the API ends the session of the browser", async () => {
    await using profile = await openProfile(browser);
    const page = await profile.newPage();
    await logInThere(page, server.url);
    await logIn(server);
    await page.reload();
    assert.equal(page.url(), `${server.url}/login`);
    assert.match(String(await page.locator(".note").textContent()), /^Your session has ended/);
  });
});
