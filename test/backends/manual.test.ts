import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { renderSite } from "../../src/platform/site/render.ts";
import { violationsOf } from "../helpers/axe.ts";
import { needsChromium } from "../helpers/back-end.ts";
import { complaintsOf, logInThere, openChromium, openProfile } from "../helpers/browser.ts";
import { startServer } from "../helpers/server.ts";
import { tempDir } from "../helpers/temp-dir.ts";

suite("in Chromium, the manual", needsChromium(), () => {
  let browser: Browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());

  /** Finds a section as a person does, without a mouse. */
  async function find(page: Page): Promise<void> {
    await page.keyboard.press("/");
    await page.keyboard.type("replay a dead letter");
    await page.locator("#found a").first().waitFor();
    assert.equal(await page.locator("#found small").first().textContent(), "Events");
    await page.keyboard.press("Enter");
    await page.waitForURL(/events\.html#replay-a-dead-letter$/);
    await page.locator("h2#replay-a-dead-letter").waitFor();
  }

  test("is searched behind the login, and fits a phone", async () => {
    await using server = await startServer();
    await using profile = await openProfile(browser, { viewport: { width: 390, height: 844 } });
    const complaints = await complaintsOf(profile);
    const page = await profile.newPage();
    await logInThere(page, server.url);
    for (const path of ["", "operate.html", "reference/settings.html", "deploy/helm/authserve/index.html"]) {
      await page.goto(`${server.url}/docs/${path}`);
      assert.deepEqual(await violationsOf(page), [], path);
      const isWide = "document.documentElement.scrollWidth > innerWidth";
      assert.equal(await page.evaluate(isWide), false, path);
    }
    await page.goto(`${server.url}/docs/reference/settings.html`);
    await find(page);
    assert.deepEqual(complaints, []);
  });

  test("is searched in a folder, without a server", async (context) => {
    const dir = tempDir(context);
    for (const [name, content] of Object.entries(await renderSite(join(import.meta.dirname, "../..")))) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), content);
    }
    await using profile = await openProfile(browser);
    const page = await profile.newPage();
    await page.goto(pathToFileURL(join(dir, "reference/errors.html")).href);
    await find(page);
  });
});
