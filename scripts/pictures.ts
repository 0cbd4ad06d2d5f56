// Makes the pictures of the pages, with the fonts of this machine. Needs Chromium.
//
//   node scripts/pictures.ts docs/pictures

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { fillIn, openChromium, openProfile } from "../test/helpers/browser.ts";
import { addAuthenticator } from "../test/helpers/passkeys.ts";
import { freePort } from "../test/helpers/ports.ts";
import { type Server, startServer } from "../test/helpers/server.ts";
import { makeShop, SECRETS } from "./pictures/shop.ts";

const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 } };

const FIREFOX = { userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0" };
const ELSEWHERE = { extraHTTPHeaders: { "x-forwarded-for": "198.51.100.20" } };

const WRONG = { password: "wrong password" };

interface Picture {
  options?: BrowserContextOptions;
  /** Brings a page to what the picture shows. */
  show(page: Page, server: Server, browser: Browser): Promise<void>;
}

const showLogin: Picture["show"] = async (page, { url }) => void (await page.goto(`${url}/login`));

const PICTURES: Record<string, Picture> = {
  login: { show: showLogin },
  "login-phone": { options: PHONE, show: showLogin },
  "login-dark": { options: { colorScheme: "dark" }, show: showLogin },
  "login-spanish": { options: { locale: "es-ES" }, show: showLogin },
  "login-error": {
    async show(page, { url }) {
      await page.goto(`${url}/login`);
      await fillIn(page, WRONG);
    },
  },
  "login-superseded": {
    async show(page, { url }, browser) {
      await page.goto(`${url}/login`);
      await fillIn(page);
      const other = await openProfile(browser, { ...FIREFOX, ...ELSEWHERE });
      const theirs = await other.newPage();
      await theirs.goto(`${url}/login`);
      await fillIn(theirs);
      await other.close();
      await page.reload();
    },
  },
  "login-refused-address": {
    show: async (page, { url }) =>
      void (await page.goto(`${url}/login?rd=${encodeURIComponent("https://app.example.org/page")}`)),
  },
  "signed-in": {
    async show(page, { url }) {
      await page.goto(`${url}/login`);
      await fillIn(page);
    },
  },
  "log-out": {
    async show(page, { url }) {
      await page.goto(`${url}/login`);
      await fillIn(page);
      await page.goto(`${url}/logout`);
    },
  },
};

/** Logs in, and opens a view of the admin page. */
const view =
  (hash: string, text: string): Picture["show"] =>
  async (page, { url }) => {
    await page.goto(`${url}/admin/`);
    await fillIn(page);
    await page.goto(`${url}/admin/${hash}`);
    await page.getByText(text).first().waitFor();
    await page.waitForLoadState("networkidle");
    await page.evaluate("document.activeElement.blur()");
  };

/** The newest event that has failed. */
const failedEvent: Picture["show"] = async (page, server, browser) => {
  await view("#/events?status=failed", "503")(page, server, browser);
  await page.locator("a.row").first().click();
  await page.getByText("Attempt 1").first().waitFor();
};

/** The overview with the charts of a day. */
const overview: Picture["show"] = async (page, server, browser) => {
  await view("#/", "stripe")(page, server, browser);
  const drawn = page.waitForResponse((response) => response.url().includes("/stats?"));
  await page.getByText("24 hours", { exact: true }).click();
  await drawn;
  await page.locator(".u-over").first().waitFor();
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  await page.evaluate("document.activeElement.blur(), scrollTo(0, 0)");
};

const ADMIN: Record<string, Picture> = {
  "admin-overview": { show: overview },
  "admin-overview-dark": { options: { colorScheme: "dark" }, show: overview },
  "admin-overview-phone": { options: PHONE, show: overview },
  "admin-events": { show: view("#/events?status=failed", "503") },
  "admin-event": { show: failedEvent },
  "admin-dead-letters": { show: view("#/dead-letters", "503") },
};

/** Logs in with the password, and adds a passkey. */
async function addPasskey(page: Page, url: string): Promise<void> {
  await addAuthenticator(page);
  await page.goto(`${url}/login`);
  await fillIn(page);
  if (page.url().includes("/login/code")) {
    await page.getByRole("button", { name: "passkey" }).click();
    await page.waitForURL(`${url}/`);
  }
  await page.goto(`${url}/account`);
  await page.locator("#passkey-name").fill("my laptop");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.waitForURL(`${url}/account/passkey`);
}

/** The page of the account with a passkey and an app. The factors are removed for the next picture. */
const account: Picture["show"] = async (page, server) => {
  await server.run(["factors", "remove", "--all"]);
  await addPasskey(page, server.env.PUBLIC_URL ?? "");
  await server.run(["factors", "add-totp", "--unconfirmed", "--name", "my phone"]);
  await page.goto(`${server.env.PUBLIC_URL}/account`);
};

const loginWithPasskey: Picture["show"] = async (page, server) => {
  await account(page, server, browser);
  await page.context().clearCookies();
  await page.goto(`${server.env.PUBLIC_URL}/login`);
  await page.getByRole("button", { name: "passkey" }).waitFor();
};

const loginCode: Picture["show"] = async (page, server) => {
  await loginWithPasskey(page, server, browser);
  await fillIn(page);
  await page.locator("#code").waitFor();
};

/** The pages of second factors, which need a name for passkeys. */
const SECOND_FACTOR: Record<string, Picture> = {
  account: { options: { viewport: { width: 1280, height: 1500 } }, show: account },
  "account-dark": { options: { colorScheme: "dark", viewport: { width: 1280, height: 1500 } }, show: account },
  "account-phone": { options: { viewport: { width: 390, height: 1500 } }, show: account },
  "account-app": {
    options: { viewport: { width: 1280, height: 1200 } },
    async show(page, server) {
      await account(page, server, browser);
      await page.goto(`${server.env.PUBLIC_URL}/account/totp`);
    },
  },
  "login-passkey": { show: loginWithPasskey },
  "login-passkey-phone": { options: PHONE, show: loginWithPasskey },
  "login-passkey-dark": { options: { colorScheme: "dark" }, show: loginWithPasskey },
  "login-code": { show: loginCode },
  "login-code-phone": { options: PHONE, show: loginCode },
};

const folder = process.argv[2];
if (folder === undefined)
  throw new Error("name the folder of the pictures, e.g. node scripts/pictures.ts docs/pictures");
mkdirSync(folder, { recursive: true });

const browser = await openChromium();
const env = { TRUSTED_PROXIES: "127.0.0.1" };
try {
  await take(PICTURES, await startServer({ env }));
  const port = String(await freePort());
  const named = { ...env, PORT: port, PUBLIC_URL: `http://localhost:${port}` };
  await take(SECOND_FACTOR, await startServer({ env: named }));
  await take(ADMIN, await startServer({ dir: makeShop(Date.now()), env: { ...env, ...SECRETS } }));
} finally {
  await browser.close();
}

/** Takes pictures of a server, and ends it. */
async function take(pictures: Record<string, Picture>, server: Server): Promise<void> {
  for (const [name, { options, show }] of Object.entries(pictures)) {
    const profile = await openProfile(browser, {
      ...DESKTOP,
      extraHTTPHeaders: { "x-forwarded-for": "203.0.113.7" },
      ...options,
    });
    const page = await profile.newPage();
    await show(page, server, browser);
    await page.screenshot({ path: join(folder as string, `${name}.png`) });
    await profile.close();
  }
  await server.stop();
}
