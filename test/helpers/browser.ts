import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { CHROMIUM } from "./back-end.ts";
import { EMAIL, PASSWORD } from "./credentials.ts";
import { HANG_MS } from "./until.ts";

/** Starts a Chromium without a window. */
export function openChromium(args: string[] = []): Promise<Browser> {
  // Chromium's own sandbox does not work for root.
  const chromiumSandbox = process.getuid?.() !== 0;
  return chromium.launch({ executablePath: CHROMIUM, chromiumSandbox, timeout: HANG_MS, args });
}

// The User-Agent of a Chromium without a window names no browser that people know.
const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

/** The browser of one person: it shares no cookie with the others. */
export async function openProfile(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const profile = await browser.newContext({ locale: "en-GB", userAgent: CHROME, ...options });
  profile.setDefaultTimeout(HANG_MS);
  return profile;
}

/** Fills the login page in as a person does, and sends it with Enter. Resolves when the next page is there. */
export async function fillIn(page: Page, { email = EMAIL, password = PASSWORD } = {}): Promise<void> {
  await page.locator("#email").fill(email);
  await page.locator("#password").pressSequentially(password);
  await Promise.all([page.waitForEvent("domcontentloaded"), page.locator("#password").press("Enter")]);
}

/** Opens the login page, and logs in. */
export async function logInThere(page: Page, url: string, { email = EMAIL, password = PASSWORD } = {}): Promise<void> {
  await page.goto(`${url}/login`);
  await fillIn(page, { email, password });
}

/**
 * What the pages of a profile complain of from now on: errors in the console, of scripts, and violations of a policy.
 */
export async function complaintsOf(profile: BrowserContext): Promise<string[]> {
  const complaints: string[] = [];
  await profile.addInitScript(
    `addEventListener("securitypolicyviolation", (e) => console.error(e.violatedDirective + " forbids " + e.blockedURI))`,
  );
  profile.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  profile.on("weberror", (error) => complaints.push(String(error.error())));
  return complaints;
}
