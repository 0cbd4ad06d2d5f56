import assert from "node:assert/strict";
import { after, before, suite, type TestContext, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { violationsOf } from "../helpers/axe.ts";
import { needsChromium } from "../helpers/back-end.ts";
import { complaintsOf, fillIn, openChromium, openProfile } from "../helpers/browser.ts";
import { contrastOf, paintedOf } from "../helpers/contrast.ts";
import { BEN, dirWithBen, invite } from "../helpers/invitations.ts";
import { addAuthenticator } from "../helpers/passkeys.ts";
import { freePort } from "../helpers/ports.ts";
import { startServer } from "../helpers/server.ts";

const PHONE = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };
const TARGETS = "input:visible, button:visible";

suite("a link of people invite in Chromium", needsChromium(), () => {
  let browser: Browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());

  async function start(t: TestContext) {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const server = await startServer({ env: { PORT: String(port), PUBLIC_URL: origin }, dir: dirWithBen() });
    t.after(() => server[Symbol.asyncDispose]());
    return { origin, link: await invite(server) };
  }

  async function open(t: TestContext, options: BrowserContextOptions = {}) {
    const profile = await openProfile(browser, options);
    t.after(() => profile.close());
    const complaints = await complaintsOf(profile);
    return { page: await profile.newPage(), complaints };
  }

  test("a person adds a first passkey, logs in with it, and sees it", async (t) => {
    const { origin, link } = await start(t);
    const { page, complaints } = await open(t);
    await addAuthenticator(page);
    await page.goto(link);
    await page.getByText(BEN.email).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.locator("#passkey-name").fill("ben's phone");
    await page.locator("#passkey-name").press("Enter");
    await page.waitForURL(`${origin}/login?rd=%2Faccount`);
    await page.getByRole("button", { name: "Log in with a passkey" }).click();
    await page.waitForURL(`${origin}/account`);
    await page.getByText("ben's phone").waitFor();
    assert.deepEqual(complaints, []);
    await page.goto(link);
    await page.getByText("Ask for a new one.").waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test("a person without scripts sets a password on a phone in dark colors, and logs in with it", async (t) => {
    const { origin, link } = await start(t);
    const { page } = await open(t, { ...PHONE, colorScheme: "dark", locale: "es-ES", javaScriptEnabled: false });
    await page.goto(link);
    assert.equal(await page.locator("html").evaluate((element) => element.scrollWidth as number), 320);
    for (const target of await page.locator(TARGETS).all())
      assert.ok(((await target.boundingBox())?.height ?? 0) >= 44);
    for (const { what, color, background } of await paintedOf(page))
      assert.ok(contrastOf(color, background) >= 4.5, what);
    assert.equal(await page.locator(TARGETS).count(), 3, "a passkey needs scripts");
    await page.getByLabel("Contraseña nueva").fill("corta");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Elige una contraseña de 6 a 1024 caracteres.").waitFor();
    await page.getByLabel("Contraseña nueva").fill(BEN.password);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${origin}/login?rd=%2Faccount`);
    await fillIn(page, BEN);
    assert.equal(page.url(), `${origin}/account`);
  });

  test("a passkey that the person cancels leaves the link as it was", async (t) => {
    const { origin, link } = await start(t);
    const { page } = await open(t);
    // Without an authenticator the browser's dialog is refused.
    await page.addInitScript(
      `navigator.credentials.create = () => Promise.reject(new DOMException("no", "NotAllowedError"));`,
    );
    await page.goto(link);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("alert").getByText("No passkey was added.").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByLabel("New password").fill(BEN.password);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${origin}/login?rd=%2Faccount`);
  });
});
