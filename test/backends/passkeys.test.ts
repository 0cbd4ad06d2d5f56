import assert from "node:assert/strict";
import { after, before, suite, type TestContext, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { violationsOf } from "../helpers/axe.ts";
import { needsChromium } from "../helpers/back-end.ts";
import { complaintsOf, logInThere, openChromium, openProfile } from "../helpers/browser.ts";
import { post, tryLogin } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { addAuthenticator, keptBy, setVerified, type VirtualAuthenticator } from "../helpers/passkeys.ts";
import { freePort } from "../helpers/ports.ts";
import { addTotp } from "../helpers/second-factor.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { pairNamed } from "../helpers/tls.ts";
import { totpCode } from "../helpers/totp.ts";
import { until } from "../helpers/until.ts";

const addButton = (page: Page) => page.getByRole("button", { name: "Add a passkey" });
const loginButton = (page: Page) => page.getByRole("button", { name: "Log in with a passkey" });
const alertOf = (page: Page) => page.locator("form[data-kind] [role=alert]:visible").textContent();

suite("passkeys in Chromium", needsChromium(), () => {
  let browser: Browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());

  interface Person {
    server: Server & { origin: string };
    page: Page;
    authenticator: VirtualAuthenticator;
    complaints: string[];
  }

  async function start(t: TestContext): Promise<Person["server"]> {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const server = await startServer({ env: { PORT: String(port), PUBLIC_URL: origin } });
    t.after(() => server[Symbol.asyncDispose]());
    return { ...server, origin };
  }

  async function open(
    t: TestContext,
    options: BrowserContextOptions = {},
    given: Person["server"] | null = null,
  ): Promise<Person> {
    const server = given ?? (await start(t));
    const profile = await openProfile(browser, options);
    t.after(() => profile.close());
    const complaints = await complaintsOf(profile);
    const page = await profile.newPage();
    return { server, page, authenticator: await addAuthenticator(page), complaints };
  }

  /** Logs in with the password, and adds a passkey. Returns the recovery codes. */
  async function addPasskey({ page, server: { origin } }: Person, name: string): Promise<string[]> {
    await page.goto(`${origin}/account`);
    await page.locator("#passkey-name").fill(name);
    await addButton(page).click();
    await page.waitForURL(`${origin}/account/passkey`);
    return page.locator(".codes code").allTextContents();
  }

  async function logOut({ page, server: { origin } }: Person): Promise<void> {
    await page.goto(`${origin}/logout`);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(/\/login/);
  }

  test("a person adds one, logs in with it alone, and removes it", async (t) => {
    const person = await open(t);
    const { page, server, complaints } = person;
    const { origin } = server;
    await logInThere(page, origin);
    assert.equal(await loginButton(page).count(), 0);
    const codes = await addPasskey(person, "my laptop");
    assert.equal(codes.length, 10);
    await page.getByRole("link", { name: "I have kept them" }).click();
    await page.getByText("my laptop").waitFor();
    assert.equal((await tryLogin(server)).json.code, "second_factor_required");

    await logOut(person);
    await page.goto(`${origin}/login?rd=%2Faccount#part`);
    await loginButton(page).click();
    await page.waitForURL(`${origin}/account#part`);
    assert.match((await page.locator("li").filter({ hasText: "this session" }).textContent()) ?? "", /passkey/);
    assert.equal(server.log("login_succeeded").at(-1)?.method, "passkey");

    await page.getByRole("button", { name: "Remove: my laptop" }).click();
    await page.getByText("Now the password is enough.").waitFor();
    assert.equal((await tryLogin(server)).status, 200);
    assert.deepEqual(complaints, []);
    assert.deepEqual(
      server
        .log()
        .filter(({ event }) => event.startsWith("factor_"))
        .map(({ event, kind }) => [event, kind]),
      [
        ["factor_added", "passkey"],
        ["factor_removed", "passkey"],
      ],
    );
  });

  test("it is the second step too, and a recovery code does when it is lost", async (t) => {
    const person = await open(t);
    const { page, authenticator } = person;
    const { origin } = person.server;
    await logInThere(page, origin);
    const [code = ""] = await addPasskey(person, "key");
    await logOut(person);
    await logInThere(page, origin);
    await page.waitForURL(/\/login\/code/);
    await loginButton(page).click();
    await page.waitForURL(`${origin}/`);

    await logOut(person);
    await authenticator.session.send("WebAuthn.clearCredentials", { authenticatorId: authenticator.id });
    await loginButton(page).click();
    assert.match(String(await alertOf(page)), /^No passkey was used\./);
    await logInThere(page, origin);
    await page.locator("#code").fill(code);
    await page.locator("#code").press("Enter");
    await page.waitForURL(`${origin}/`);
  });

  test("one that cannot verify its user opens nothing", async (t) => {
    const person = await open(t);
    const { page, authenticator, server } = person;
    await logInThere(page, server.origin);
    await addPasskey(person, "key");
    await logOut(person);
    await setVerified(authenticator, false);
    await loginButton(page).click();
    assert.match(String(await alertOf(page)), /^No passkey was used\./);
    await page.goto(server.origin);
    assert.match(page.url(), /\/login$/);
    await setVerified(authenticator, true);
    await loginButton(page).click();
    await page.waitForURL(`${server.origin}/`);
  });

  test("a copy whose counter lags behind is refused, and the log says so", async (t) => {
    const person = await open(t);
    const { page, authenticator, server } = person;
    const { session, id: authenticatorId } = authenticator;
    await logInThere(page, server.origin);
    await addPasskey(person, "key");
    const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
    const [copy] = credentials;
    assert.ok(copy);
    for (const _ of [1, 2]) {
      await logOut(person);
      await loginButton(page).click();
      await page.waitForURL(`${server.origin}/`);
    }
    await logOut(person);
    await session.send("WebAuthn.clearCredentials", { authenticatorId });
    await session.send("WebAuthn.addCredential", { authenticatorId, credential: copy });
    await loginButton(page).click();
    await page.getByText("The passkey was not accepted.").waitFor();
    assert.match(String((await server.logged("passkey_refused")).reason), /counter of key has not grown/);
  });

  // https://github.com/iosazee/expo-passkey/issues/15
  test("it stays in an authenticator that gets one for another server with the same RP ID", async (t) => {
    const person = await open(t);
    const { page, authenticator, server } = person;
    const other = { ...person, server: await start(t) };
    const { id: authenticatorId, session } = authenticator;
    const known = async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
    await logInThere(page, server.origin);
    await addPasskey(person, "key");
    const [first] = await known();
    await logInThere(page, other.server.origin);
    await addPasskey(other, "key");
    assert.deepEqual(new Set((await known()).map(({ rpId }) => rpId)), new Set(["localhost"]));
    for (const { credentialId } of await known())
      if (credentialId !== first?.credentialId)
        await session.send("WebAuthn.removeCredential", { authenticatorId, credentialId });
    await page.goto(`${server.origin}/login`);
    await loginButton(page).click();
    await page.waitForURL(`${server.origin}/`);
  });

  // https://github.com/keepassxreboot/keepassxc/issues/13239, https://github.com/supabase/auth/issues/2732
  test("it still works once it is synced, or not any more", async (t) => {
    const person = await open(t);
    const { page, authenticator, server } = person;
    const { id: authenticatorId, session } = authenticator;
    await logInThere(page, server.origin);
    await addPasskey(person, "key");
    const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
    const credentialId = String(credentials[0]?.credentialId);
    for (const [backupEligibility, backupState] of [
      [true, true],
      [true, false],
      [false, false],
    ] as const) {
      await logOut(person);
      const properties = { authenticatorId, credentialId, backupEligibility, backupState };
      await session.send("WebAuthn.setCredentialProperties", properties);
      await loginButton(page).click();
      await page.waitForURL(`${server.origin}/`);
    }
  });

  test("another address makes it unusable, which the log, doctor and the page say, and a code still opens", async (t) => {
    const person = await open(t);
    const { page, server } = person;
    await logInThere(page, server.origin);
    const [code = ""] = await addPasskey(person, "key");
    await server.stop();
    const origin = server.origin.replace("localhost", "127.0.0.1");
    await using moved = await startServer({ dir: server.dir, env: { PORT: String(server.port), PUBLIC_URL: origin } });
    assert.match(
      (await moved.logged("passkeys_unusable")).message,
      /\(key for localhost\), and now PUBLIC_URL allows no passkeys/,
    );
    const { stdout } = await moved.run(["doctor"]);
    assert.match(stdout, /^warning +passkeys +passkeys cannot be used/m);
    await page.goto(`${origin}/login`);
    assert.equal(await loginButton(page).count(), 0);
    await logInThere(page, origin);
    await page.locator("#code").fill(code);
    await page.locator("#code").press("Enter");
    await page.waitForURL(`${origin}/`);
    await page.goto(`${origin}/account`);
    await page.getByText("It does not work at this address: it was made for localhost.").waitFor();
  });

  test("with COOKIE_DOMAIN it belongs to the domain, and works on the pages of PUBLIC_URL only", async (t) => {
    const port = await freePort();
    const origin = `https://auth.example.com:${port}`;
    const { cert, key } = pairNamed("first");
    const tls = { HOST: "127.0.0.1", TLS_CERT_FILE: cert, TLS_KEY_FILE: key };
    const domain = { PUBLIC_URL: origin, COOKIE_DOMAIN: "example.com", ALLOWED_HOSTS: "other.example.com" };
    const server = await startServer({ env: { PORT: String(port), ...tls, ...domain } });
    t.after(() => server[Symbol.asyncDispose]());
    const args = ["--host-resolver-rules=MAP *.example.com 127.0.0.1", "--ignore-certificate-errors"];
    const ownBrowser = await openChromium(args);
    t.after(() => ownBrowser.close());
    const page = await (await openProfile(ownBrowser)).newPage();
    const authenticator = await addAuthenticator(page);
    const person = { server: { ...server, origin }, page, authenticator, complaints: [] };
    await logInThere(page, origin);
    await addPasskey(person, "key");
    const { credentials } = await authenticator.session.send("WebAuthn.getCredentials", {
      authenticatorId: authenticator.id,
    });
    assert.equal(credentials[0]?.rpId, "example.com");
    await logOut(person);
    await page.goto(`https://other.example.com:${port}/login`);
    await page.locator("#password").waitFor();
    assert.equal(await loginButton(page).isVisible(), false);
    await page.goto(`${origin}/login`);
    await loginButton(page).click();
    await page.waitForURL(`${origin}/`);
  });

  test("one that is removed leaves the authenticator, also one that a command removed", async (t) => {
    const person = await open(t);
    const { page, server, authenticator, complaints } = person;
    await logInThere(page, server.origin);
    await addPasskey(person, "first");
    await page.goto(`${server.origin}/account`);
    assert.equal((await keptBy(authenticator)).length, 1, "a visit leaves one that is known");
    await page.getByRole("button", { name: "Remove: first" }).click();
    await until(async () => (await keptBy(authenticator)).length === 0);

    await addPasskey(person, "second");
    assert.equal((await server.run(["factors", "remove", "--all"])).code, 0);
    await logOut(person);
    assert.equal((await keptBy(authenticator)).length, 1);
    await logInThere(page, server.origin);
    await until(async () => (await keptBy(authenticator)).length === 0);
    assert.deepEqual(complaints, []);
  });

  test("one whose removal was refused stays in the authenticator", async (t) => {
    const person = await open(t);
    const { page, server, authenticator } = person;
    await logInThere(page, server.origin);
    await addPasskey(person, "key");
    await page.goto(`${server.origin}/account`);
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Remove: key" }).click();
    await loginButton(page).click();
    await page.waitForURL(`${server.origin}/account`);
    await until(() => page.evaluate("sessionStorage.length === 0"));
    assert.equal((await keptBy(authenticator)).length, 1);
  });

  test("a login with one that was removed lets the authenticator forget it, but none of another server", async (t) => {
    const person = await open(t);
    const other = await open(t, {}, person.server);
    const { page, server, authenticator } = person;
    await logInThere(page, server.origin);
    await addPasskey(person, "mine");
    const [mine] = JSON.parse((await server.run(["factors", "list", "--json"])).stdout).factors;
    await logInThere(other.page, server.origin);
    await other.page.locator("#code").waitFor();
    await logOut(person);
    await server.run(["factors", "remove", mine.id]);
    await logInThere(other.page, server.origin);
    await addPasskey(other, "another");
    await page.goto(`${server.origin}/login`);
    await loginButton(page).click();
    await page.getByText("The passkey was not accepted.").waitFor();
    await until(async () => (await keptBy(authenticator)).length === 0);

    const third = { ...person, server: await start(t) };
    await logInThere(page, third.server.origin);
    await addPasskey(third, "of another server");
    await page.goto(`${server.origin}/login`);
    await loginButton(page).click();
    await page.getByText("The passkey was not accepted.").waitFor();
    assert.equal(await page.locator("[data-signals]").count(), 0);
    assert.equal((await keptBy(authenticator)).length, 1);
    assert.equal((await keptBy(other.authenticator)).length, 1);
  });

  // https://github.com/modoboa/modoboa/issues/4123
  test("it gets the new name of its user", async (t) => {
    const person = await open(t);
    const { page, server, authenticator } = person;
    await logInThere(page, server.origin);
    await addPasskey(person, "key");
    await server.stop();
    const env = { PORT: String(server.port), PUBLIC_URL: server.origin, DEMO_EMAIL: "new@example.com" };
    await using renamed = await startServer({ dir: server.dir, env });
    await page.goto(`${server.origin}/login`);
    await loginButton(page).click();
    await page.waitForURL(`${server.origin}/`);
    await until(async () => (await keptBy(authenticator))[0]?.userName === "new@example.com");
    await renamed.stop();
  });

  test("one is offered after a login by password, once in each browser, with a no", async (t) => {
    const person = await open(t);
    const { page, server, authenticator } = person;
    const { origin } = server;
    const offer = page.getByRole("button", { name: "No, thanks" });
    await page.goto(`${origin}/login?rd=%2Faccount`);
    await page.locator("#email").fill(EMAIL);
    await page.locator("#password").fill(PASSWORD);
    await page.locator("#password").press("Enter");
    await page.waitForURL(`${origin}/account`);
    assert.equal(await offer.count(), 0, "not where a login leads elsewhere");
    await page.goto(`${origin}/`);
    await offer.waitFor();
    await page.reload();
    assert.deepEqual(await violationsOf(page), []);
    await offer.click();
    assert.equal(await offer.isVisible(), false);
    await logOut(person);
    await logInThere(page, origin);
    await page.getByText("You are logged in").waitFor();
    assert.equal(await offer.isVisible(), false, "the no is remembered");

    const other = await open(t, { locale: "es-ES" }, server);
    await logInThere(other.page, origin);
    await other.page.getByRole("button", { name: "No, gracias" }).waitFor();
    await other.page.goto(`${origin}/logout`);
    await other.page.locator("form button").click();
    // Logins are told apart by their second.
    const second = Math.floor(Date.now() / 1000);
    await until(() => Math.floor(Date.now() / 1000) > second);
    await logInThere(other.page, origin);
    assert.equal(await other.page.getByRole("button", { name: "No, gracias" }).isVisible(), false, "without an answer");

    const third = await open(t, {}, server);
    await logInThere(third.page, origin);
    // This Chromium does not answer without a dialog, and the dialog follows.
    await addButton(third.page).click();
    await third.page.waitForURL(`${origin}/account/passkey`);
    assert.equal((await keptBy(third.authenticator)).length, 1);
    assert.deepEqual(third.complaints, []);
    await third.page.goto(`${origin}/`);
    assert.equal(await addButton(third.page).count(), 0);
    assert.equal((await keptBy(authenticator)).length, 0);
  });

  // https://github.com/Yubico/java-webauthn-server/issues/407, https://github.com/web-auth/webauthn-framework/pull/908
  test("a password manager makes the one that is offered, without a dialog", async (t) => {
    const person = await open(t);
    const { page, server } = person;
    // Only a password manager that has the password does so. The authenticator takes its place.
    await page.addInitScript(`{
      const create = navigator.credentials.create.bind(navigator.credentials);
      navigator.credentials.create = async ({ mediation, ...options }) => {
        const { userVerification } = options.publicKey.authenticatorSelection;
        if (mediation === "conditional" && userVerification === "preferred") return create(options);
        throw new Error("a dialog");
      };
    }`);
    await logInThere(page, server.origin);
    await addButton(page).click();
    await page.waitForURL(`${server.origin}/account/passkey`);
    await logOut(person);
    await loginButton(page).click();
    await page.waitForURL(`${server.origin}/`);
  });

  test("it works at a new PUBLIC_URL that the old address names, and leaves the authenticator from there", async (t) => {
    const port = await freePort();
    const [before, after] = [`https://auth.example.com:${port}`, `https://login.example.net:${port}`];
    const { cert, key } = pairNamed("first");
    const tls = { PORT: String(port), HOST: "127.0.0.1", TLS_CERT_FILE: cert, TLS_KEY_FILE: key };
    const server = await startServer({ env: { ...tls, PUBLIC_URL: before } });
    t.after(() => server[Symbol.asyncDispose]());
    // Browsers ask the RP ID at port 443.
    const rules = `MAP auth.example.com:443 127.0.0.1:${port},MAP *.example.com 127.0.0.1,MAP *.example.net 127.0.0.1`;
    const ownBrowser = await openChromium([`--host-resolver-rules=${rules}`, "--ignore-certificate-errors"]);
    t.after(() => ownBrowser.close());
    const page = await (await openProfile(ownBrowser)).newPage();
    const authenticator = await addAuthenticator(page);
    const old = { server: { ...server, origin: before }, page, authenticator, complaints: [] };
    await logInThere(page, before);
    await addPasskey(old, "old");
    await logOut(old);
    await server.stop();

    const env = { ...tls, PUBLIC_URL: after, PASSKEY_RP_ID: "auth.example.com" };
    await using moved = await startServer({ dir: server.dir, env });
    const person = { ...old, server: { ...moved, origin: after } };
    await page.goto(`${before}/login`);
    await page.waitForURL(/^https:\/\/login\.example\.net/);
    await loginButton(page).click();
    await page.waitForURL(`${after}/`);
    assert.deepEqual(moved.log("passkeys_unusable"), []);
    await page.goto(`${after}/account`);
    await page.locator("#passkey-name").fill("new");
    await addButton(page).click();
    assert.match(String(await alertOf(page)), /^This passkey is in the list already/);
    await page.getByRole("button", { name: "Remove: old" }).click();
    await until(async () => (await keptBy(authenticator)).length === 0);
    await addPasskey(person, "new");
    assert.equal((await keptBy(authenticator))[0]?.rpId, "auth.example.com");
    await logOut(person);
    await loginButton(page).click();
    await page.waitForURL(`${after}/`);
    await moved.stop();

    // Another server is at the old address now. It names no other origin, and then this one.
    const third = `https://third.example.net:${await freePort()}`;
    const more = { PORT: new URL(third).port, PUBLIC_URL: third };
    await using apart = await startServer({ dir: server.dir, env: { ...env, ...more } });
    const refusing = await startServer({ env: { ...tls, PUBLIC_URL: before } });
    await page.goto(`${third}/login`);
    await loginButton(page).click();
    assert.match(String(await alertOf(page)), /^It is not possible to use a passkey now/);
    const { stdout } = await apart.run(["doctor"]);
    assert.match(stdout, /browsers use no passkeys at https:.*: https:\/\/auth\.example\.com.* cannot be read as JSON/);
    await refusing.stop();
    await using naming = await startServer({ env: { ...tls, PUBLIC_URL: before, PASSKEY_ORIGINS: third } });
    await loginButton(page).click();
    await page.waitForURL(`${third}/`);
    await naming.stop();
  });

  test("without scripts an authenticator app is added and used, and no passkey is offered", async (t) => {
    const { page, server } = await open(t, { javaScriptEnabled: false });
    const { origin } = server;
    await addTotp(server);
    const { secret } = await addTotp(server);
    await logInThere(page, origin);
    await page.locator("#code").fill(totpCode(secret));
    await page.locator("#code").press("Enter");
    await page.waitForURL(`${origin}/`);
    await page.goto(`${origin}/account`);
    assert.equal(await addButton(page).isVisible(), false);
    await page.getByRole("link", { name: "Add an authenticator app" }).click();
    const shown = ((await page.locator("code").textContent()) ?? "").replaceAll(" ", "");
    assert.equal(await page.locator(".qr svg").count(), 1);
    await page.locator("#code").fill("000000");
    await page.getByRole("button", { name: "Add" }).click();
    assert.match(String(await page.getByRole("alert").textContent()), /^The code is wrong/);
    await page.locator("#name").fill("tablet <b>");
    const code = totpCode(shown);
    await page.locator("#code").fill(code);
    await page.getByRole("button", { name: "Add" }).click();
    await page.waitForURL(`${origin}/account`);
    await page.getByText("tablet <b>").waitFor();
    const credentials = { email: EMAIL, password: PASSWORD, code };
    assert.equal((await post(server, "/auth/login/code", credentials)).json.code, "invalid_code");
  });

  for (const [what, options] of [
    ["in light", {}],
    [
      "in dark, on a phone, in Spanish",
      { colorScheme: "dark", viewport: { width: 320, height: 700 }, locale: "es-ES" },
    ],
  ] as const)
    test(`every page is accessible, and fits into its window: ${what}`, async (t) => {
      const { page, server, authenticator } = await open(t, options);
      const { origin } = server;
      const check = async () => {
        assert.deepEqual(await violationsOf(page), [], page.url());
        assert.equal(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), 0, page.url());
      };
      await logInThere(page, origin);
      await page.locator("form[data-offer]").waitFor();
      await check();
      await page.goto(`${origin}/account`);
      await check();
      await page.locator("form[data-kind] button").click();
      await page.waitForURL(`${origin}/account/passkey`);
      await check();
      for (const path of ["account", "account/totp"]) {
        await page.goto(`${origin}/${path}`);
        await check();
      }
      await page.locator("#code").fill("000000");
      await page.locator("#code").press("Enter");
      await page.locator("#error").waitFor();
      await check();
      await page.goto(`${origin}/logout`);
      await page.locator("form button").click();
      await setVerified(authenticator, false);
      await page.locator("form[data-kind] button").click();
      await page.locator("form[data-kind] [role=alert]:visible").waitFor();
      await check();
      await logInThere(page, origin);
      await page.locator("#code").waitFor();
      await check();
    });

  test("the login page with its script has at most 30 kB", async (t) => {
    const person = await open(t);
    const { page, server } = person;
    await logInThere(page, server.origin);
    await addPasskey(person, "key");
    const text = await (await fetch(`${server.origin}/login`, { headers: { "accept-language": "en" } })).text();
    assert.match(text, /data-kind="login"/);
    t.diagnostic(`${Buffer.byteLength(text)} bytes`);
    assert.ok(Buffer.byteLength(text) <= 30_000, `${Buffer.byteLength(text)} bytes`);
  });
});
