import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright-core";
import { textsFor } from "../../src/auth/browser/texts.ts";
import { needsChromium } from "../helpers/back-end.ts";
import { complaintsOf, fillIn, logInThere, openChromium, openProfile } from "../helpers/browser.ts";
import { tryLogin } from "../helpers/client.ts";
import { contrastOf, paintedOf } from "../helpers/contrast.ts";
import { EMAIL } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";

const APP = "https://wiki.example.com";

const REFUSED = "https://an-app-with-a-long-name.home-of-somebody.example.org:8443/page";

/** The longest address there is: 254 characters. */
const LONG_EMAIL = `${"e".repeat(64)}@${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(57)}.com`;

const FIELDS = "input:visible";
const BUTTONS = "button, a.button";
const TARGETS = `${FIELDS}, ${BUTTONS}`;
const TOUCHED = `input:not([type=checkbox]):visible, label:has([type=checkbox]), ${BUTTONS}`;

suite("in Chromium, every page", needsChromium(), () => {
  let browser: Browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());

  /** Brings a browser to each page there is, in each of its states, and checks it. */
  async function visitAll(
    check: (page: Page, state: string) => void | Promise<void>,
    options: BrowserContextOptions = {},
    email = EMAIL,
  ): Promise<void> {
    await using server = await startServer({ env: { REDIRECT_ORIGINS: APP, DEMO_EMAIL: email } });
    await using profile = await openProfile(browser, options);
    const complaints = await complaintsOf(profile);
    const page = await profile.newPage();
    await page.goto(`${server.url}/login?rd=${encodeURIComponent(APP)}`);
    await check(page, "login");
    await fillIn(page, { email, password: "wrong password" });
    await check(page, "refused");
    await logInThere(page, server.url, { email });
    await check(page, "signed in");
    await page.goto(`${server.url}/logout`);
    await check(page, "log out");
    await page.goto(`${server.url}/login?rd=${encodeURIComponent(REFUSED)}`);
    await check(page, "signed in, refused address");
    await page.goto(server.url);
    assert.equal((await tryLogin(server, { email })).status, 200);
    await page.reload();
    await check(page, "superseded");
    await page.goto(`${server.url}/login?rd=${encodeURIComponent(REFUSED)}`);
    await check(page, "refused address");
    // Chromium writes the status of a refused login into the console.
    assert.deepEqual(
      complaints.filter((text) => !text.includes("a status of 401")),
      [],
    );
  }

  test("loads nothing else, and is within 20 kB", async () => {
    const requests: Request[] = [];
    let isWatched = false;
    await visitAll(async (page) => {
      if (!isWatched) page.on("request", (request) => requests.push(request));
      isWatched = true;
      requests.length = 0;
      await page.reload();
      const loaded = requests.filter((request) => !request.url().startsWith("data:"));
      assert.deepEqual(
        loaded.map((request) => request.url()),
        [page.url()],
      );
      const { responseHeadersSize, responseBodySize } = await (loaded[0] as Request).sizes();
      assert.ok(responseBodySize > 1000 && responseHeadersSize + responseBodySize <= 20_000);
      // Without an icon, a browser would request /favicon.ico.
      assert.match(String(await page.locator('link[rel="icon"]').getAttribute("href")), /^data:image\/svg/);
    });
  });

  for (const [locale, lang, otherLang] of [
    ["es-ES", "es", "en"],
    ["en-GB", "en", "es"],
  ] as const) {
    test(`has all its text in the language of a browser in ${locale}`, async () => {
      const others = Object.values(textsFor(otherLang)).filter((text) => typeof text === "string");
      const check = async (page: Page, state: string) => {
        assert.equal(await page.locator("html").getAttribute("lang"), lang);
        const text = `${await page.title()}\n${await page.locator("body").innerText()}`;
        for (const other of others.filter(({ length }) => length > 2))
          assert.ok(!text.includes(other), `${state}: ${other}`);
        // The API's words for a refused login are Spanish everywhere, and marked so.
        const foreign = await page.locator("body [lang]").allInnerTexts();
        assert.deepEqual(foreign, lang === "en" && state === "refused" ? ["(Credenciales inválidas)"] : []);
      };
      await visitAll(check, { locale });
    });

    test(`has no scrolling sideways at 320 px, and targets of 44 px, in ${locale}`, async () => {
      const check = async (page: Page, state: string) => {
        const root = page.locator("html");
        assert.equal(await root.evaluate((element) => element.scrollWidth as number), 320, state);
        // A checkbox is chosen by its label, too.
        for (const target of await page.locator(TOUCHED).all()) {
          const { x = -1, width = 0, height = 0 } = (await target.boundingBox()) ?? {};
          assert.ok(height >= 44 && x >= 0 && x + width <= 320, state);
        }
      };
      assert.equal(LONG_EMAIL.length, 254);
      const phone = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };
      await visitAll(check, { locale, ...phone }, LONG_EMAIL);
    });
  }

  for (const colorScheme of ["light", "dark"] as const) {
    test(`has a contrast of 4.5:1 for text and 3:1 for the borders of fields, in ${colorScheme} colors`, async () => {
      const check = async (page: Page, state: string) => {
        await page.locator(BUTTONS).last().hover();
        const painted = await paintedOf(page);
        assert.ok(painted.length >= 4);
        for (const { what, color, background, border } of painted) {
          const contrast = contrastOf(color, background);
          assert.ok(contrast >= 4.5, `${state}: ${what} has ${contrast.toFixed(2)}`);
          const edge = border === null ? 21 : contrastOf(border.color, border.behind);
          assert.ok(edge >= 3, `${state}: the border of ${what} has ${edge.toFixed(2)}`);
        }
      };
      await visitAll(check, { colorScheme });
    });
  }

  test("has a label for each field, and shows where the focus is", async () => {
    await visitAll(async (page, state) => {
      const fields = page.locator(FIELDS);
      const labels = await fields.evaluateAll((inputs) => inputs.map((input) => input.labels.length as number));
      assert.deepEqual(labels, /^signed in|^log out/.test(state) ? [] : [1, 1, 1]);
      for (const target of await page.locator(TARGETS).all()) {
        await page.keyboard.press("Tab");
        await target.focus();
        const outline = await target.evaluate(
          (element) => element.ownerDocument.defaultView.getComputedStyle(element).outline as string,
        );
        assert.match(outline, / solid [2-9]px$/);
      }
    });
  });
});
