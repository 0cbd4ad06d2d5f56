import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { openDatabase } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { violationsOf } from "../helpers/axe.ts";
import { needsChromium } from "../helpers/back-end.ts";
import { complaintsOf, fillIn, openChromium, openProfile } from "../helpers/browser.ts";
import { ask, deliver, logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD, WEBHOOK_SECRET } from "../helpers/credentials.ts";
import { clientSettings, startOidcApp } from "../helpers/oidc-app.ts";
import { freePort } from "../helpers/ports.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { endOfSuite } from "../helpers/several-servers.ts";
import { signature } from "../helpers/sign.ts";
import { stats } from "../helpers/stored-events.ts";
import { startStrippingProxy } from "../helpers/stripping-proxy.ts";
import { startTarget } from "../helpers/target.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";
import { userAgent } from "../helpers/user-agent.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

/** A server whose target refuses orders until it is repaired, with some of them in the dead letters. */
async function startShop(t: Cleanup, env: Record<string, string> = {}) {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const isBroken = { now: true };
  target.answer((_, response) => void response.writeHead(isBroken.now ? 500 : 204).end(isBroken.now ? HOSTILE : ""));
  const dir = workingDir();
  writeFileSync(
    join(dir, "authserve.yaml"),
    `routes:\n  - { name: shop, to: ${target.url}, retry: { delays: [1ms] } }\nalerts: { failureRate: off, notify: [{ exec: [cat] }] }\n`,
  );
  const server = await startServer({ dir, env });
  t.after(() => server[Symbol.asyncDispose]());
  for (let n = 1; n <= 4; n++) {
    const note = n === 3 ? HOSTILE : `for customer ${n}`;
    await deliver(server, { id: `evt_${n}`, type: "order.paid", note, amount: "amount", big: 1 });
  }
  await deliver(server, `{"id":"evt_exact","type":"order.paid","cents":12345678901234567890,"rate":1.10}`);
  await until(async () => (await stats(server)).failed === 5);
  return { server, isBroken };
}

/** Opens the page as a person does who is not logged in yet. */
async function openPage(profile: BrowserContext, url: string): Promise<Page> {
  const page = await profile.newPage();
  await page.goto(`${url}/admin/`);
  await fillIn(page);
  await page.locator("h1").waitFor();
  return page;
}

/** Opens a view that is not open yet, and waits for what it loads. */
async function openView(page: Page, url: string, view: string): Promise<void> {
  // The heading of the new view takes the focus.
  await page.evaluate("document.activeElement.blur()");
  await page.goto(`${url}/admin/${view}`);
  await page.locator("h1:focus").waitFor();
  await until(async () => (await page.locator(".skeleton").count()) === 0);
}

const APP = join(import.meta.dirname, "../../src/admin/page/app.tsx");

/** The views that the page has a name for, e.g. `events`. */
function namedViews(): string[] {
  const [, views = ""] = /\bVIEWS\b[^{]*\{([^}]*)\}/.exec(readFileSync(APP, "utf8")) ?? [];
  return [...views.matchAll(/^\s*"?([\w-]+)"?: \w+,$/gm)].map(([, name = ""]) => name);
}

/** The page opens with the last one. */
const VIEWS = [
  ...namedViews().map((name) => `#/${name === "add-source" ? `${name}?preset=stripe` : name}`),
  "#/events/evt_3",
  "#/routes/shop",
  "#/sources/default",
  "#/",
];

const DEVICES: [string, BrowserContextOptions][] = [
  ["light", { colorScheme: "light" }],
  ["in a narrow window", { viewport: { width: 1024, height: 768 } }],
  ["dark", { colorScheme: "dark" }],
  ["on a phone", { viewport: { width: 320, height: 640 }, hasTouch: true }],
];

suite("the admin page in Chromium", needsChromium(), () => {
  const cleanup = endOfSuite(after);
  let browser: Browser;
  /** Of the tests that change nothing in it. */
  let server: Server;
  before(async () => {
    browser = await openChromium();
    ({ server } = await startShop(cleanup));
  });
  after(() => browser?.close());

  test("an operator finds failed events by their payload, mends the target and replays them", async (t) => {
    const { server, isBroken } = await startShop(t);
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    assert.equal(new URL(page.url()).pathname, "/admin/");

    await page.getByRole("link", { name: "Events" }).click();
    const rows = page.locator("a.row");
    await until(async () => (await rows.count()) === 5);
    await page.keyboard.press("/");
    await page.keyboard.type("for customer");
    await page.keyboard.press("Enter");
    await until(async () => (await rows.allTextContents()).join() === "evt_4,evt_2,evt_1");
    assert.match(page.url(), /search=for\+customer/, "the filter is in the address");

    await page.getByRole("link", { name: "evt_2" }).click();
    await page.getByRole("heading", { level: 1, name: "evt_2" }).waitFor();
    const shown = page.locator("main");
    await shown.getByText("Attempt 2").first().waitFor();
    assert.match(String(await shown.textContent()), /the target answered 500/);
    await page.goBack();
    await until(async () => (await rows.count()) === 3);

    isBroken.now = false;
    await page.getByRole("button", { name: /^Replay all failed that match/ }).click();
    await page.getByRole("dialog").getByText(/3 /).first().waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByRole("dialog").getByText("3 queued again.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await until(async () => (await stats(server)).processed === 3);
    await page.getByLabel("Status").selectOption("processed");
    await until(async () => (await rows.count()) === 3);

    await page.goto(`${server.url}/admin/#/session`);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(`${server.url}/login`);
    // The page may ask once more before it is left.
    assert.deepEqual(
      complaints.filter((text) => !text.includes("401")),
      [],
    );
  });

  test("markup in payloads and answers stays text, and numbers stay exact", async () => {
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await page.locator(".plot canvas").first().waitFor();
    for (const view of ["#/events?search=onerror", "#/events/evt_3", "#/dead-letters"]) {
      await openView(page, server.url, view);
      await page
        .getByText(/evt_3|500/)
        .first()
        .waitFor();
      assert.equal(await page.locator("img").count(), 0);
      assert.doesNotMatch(await page.title(), /owned/);
    }
    await page.goto(`${server.url}/admin/#/events/evt_3`);
    await page.getByText("document.title='owned'").first().waitFor();
    await page.goto(`${server.url}/admin/#/events/evt_exact`);
    await page.getByText("12345678901234567890").first().waitFor();
    await page.getByText("1.10", { exact: true }).first().waitFor();
    assert.deepEqual(complaints, []);
  });

  test("the other ids under which a payload came are shown, with their headers", async (t) => {
    const { server } = await startShop(t);
    for (const id of ["first-id", "<b>second</b>"])
      await deliver(server, { note: "same" }, { "X-Request-ID": id, "X-Sender": `of ${id}` });
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await page.goto(`${server.url}/admin/#/events/first-id`);
    await page.getByRole("heading", { level: 2, name: "Repeats" }).waitFor();
    const card = page.locator("li.card").filter({ hasText: "<b>second</b>" });
    await card.getByText("Headers").first().click();
    await card.getByText("of <b>second</b>").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    assert.deepEqual(complaints, []);
  });

  test("an event is sent again that was processed, and its routes, neighbours and commands are shown", async (t) => {
    const { server, isBroken } = await startShop(t);
    isBroken.now = false;
    await deliver(server, { id: "evt_done", type: "order.paid", note: "a last one" });
    await until(async () => (await stats(server)).processed === 1);
    await using profile = await openProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await page.goto(`${server.url}/admin/#/events`);
    await page.getByRole("link", { name: "evt_done" }).click();
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("dialog").getByText("a second time").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click();
    await page.getByRole("dialog").getByText("1 queued again.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByText("Attempt 1 of replay 1").waitFor();
    await page.getByText("Replay 1: 1 of 2, 2 in all").waitFor();
    await page.getByText("Copy as curl").click();
    await page.getByRole("button", { name: "To shop" }).click();
    assert.match(String(await page.evaluate("navigator.clipboard.readText()")), /^curl 'http:.*X-Event-Id: evt_done/s);
    await page.getByRole("link", { name: /Older/ }).click();
    await page.getByRole("heading", { level: 1, name: "evt_exact" }).waitFor();
    await page.getByText("<script>").first().waitFor();
    assert.deepEqual(await violationsOf(page), []);
    assert.deepEqual(complaints, []);
  });

  for (const [device, options] of DEVICES) {
    test(`${device}, every view is accessible, fits and breaks no policy`, async () => {
      await using profile = await openProfile(browser, options);
      const complaints = await complaintsOf(profile);
      const page = await openPage(profile, server.url);
      for (const view of VIEWS) {
        await openView(page, server.url, view);
        assert.deepEqual(await violationsOf(page), [], view);
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.ok(Number(overflow) <= 0, `${view} is ${overflow} pixels too wide`);
      }
      assert.deepEqual(complaints, []);
    });
  }

  test("an event is opened whose id is a step in the path, or has a slash", async (t) => {
    const { server } = await startShop(t);
    const ids = [".", "..", "a/b"];
    for (const id of ids) await deliver(server, { id, type: "odd", note: `note of ${id}!` });
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    for (const id of ids) {
      await page.goto(`${server.url}/admin/#/events`);
      await page.getByRole("link", { name: id, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: id, exact: true }).waitFor();
      await page.locator("main").getByText(`note of ${id}!`).first().waitFor();
    }
    assert.deepEqual(complaints, []);
  });

  test("before the first delivery it shows how to begin, and sends a test event", async () => {
    await using server = await startServer();
    await using profile = await openProfile(browser, { permissions: ["clipboard-read", "clipboard-write"] });
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await page.getByText("Waiting for the first delivery…").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole("button", { name: "Copy the secret" }).click();
    await page.getByText("The secret is copied.").first().waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), WEBHOOK_SECRET);
    await page.getByRole("button", { name: "Send a test event" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a source is set up to its first delivery: not in use, refused with the reason, and verified", async (t) => {
    const dir = workingDir();
    const server = await startServer({ dir });
    t.after(() => server[Symbol.asyncDispose]());
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    const path = "/hooks/code";
    const body = '{"zen":"it is"}';
    const send = async (secret: string, delivery: string) => {
      const headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": signature(body, secret),
      };
      return (await ask(server, path, { method: "POST", body, headers })).status;
    };
    await page.goto(`${server.url}/admin/#/add-source?preset=github`);
    await page.getByLabel("Path").fill(path);
    await page.waitForResponse((answer) => answer.url().includes("/api/refusals"));
    await page.getByLabel("Path").press("Tab");
    const lines = page.getByText(`github: { preset: github, path: "${path}", secrets: [env:GITHUB_SECRET] }`);
    await lines.waitFor();
    await page.getByText("GITHUB_SECRET='…'").waitFor();
    assert.equal(await page.getByLabel("Secret").count(), 0, "the page asks for no secret");
    const step = page.locator("section").filter({ has: page.getByRole("heading", { name: "First delivery" }) });
    await step.getByText("github is not in the running configuration yet").waitFor();
    await step.getByText("authserve reload").waitFor();

    assert.equal(await send(SECRET, "first"), 404);
    await step.getByText("A delivery got 404").waitFor();
    await step.getByText("It came before the source was there.").waitFor();
    assert.deepEqual(await violationsOf(page), []);

    const written = String(await lines.textContent());
    appendFileSync(join(dir, ".env"), `GITHUB_SECRET='${SECRET}'\n`);
    writeFileSync(join(dir, "authserve.yaml"), written.replace("preset: github", "preset: gitub"));
    await step.getByText("gitub").waitFor();
    writeFileSync(join(dir, "authserve.yaml"), written);
    await step.getByText("github is in the running configuration").waitFor();
    await step.getByText("Waiting for the first delivery").waitFor();
    assert.equal(await lines.count(), 0);

    assert.equal(await send("another secret, a long one", "second"), 403);
    await step.getByText("Its signature does not fit").waitFor();
    await step.getByText("Compare the secret here with the one at the sender.").waitFor();
    assert.deepEqual(await violationsOf(page), []);

    assert.equal(await send(SECRET, "third"), 200);
    await step.getByText("A delivery came, and is verified").waitFor();
    await step.getByText("env:GITHUB_SECRET").waitFor();
    assert.equal(await step.getByText("Its signature does not fit").count(), 0);
    assert.deepEqual(await violationsOf(page), []);
    await step.getByRole("link", { name: "See the event" }).click();
    await page.getByRole("heading", { level: 1, name: "third" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("an app that was not told of the end of a session is named with the reason, and told again", async (t) => {
    const target = await startTarget();
    t.after(() => target[Symbol.asyncDispose]());
    target.answer((_, response) => response.writeHead(400).end());
    const port = await freePort();
    const settings = clientSettings(port);
    const file = settings.env.CONFIG_FILE as string;
    const lines = readFileSync(file, "utf8").replace(/backchannel: "[^"]+"/, `backchannel: "${target.url}/logout"`);
    writeFileSync(file, lines);
    const server = await startServer(settings);
    t.after(() => server[Symbol.asyncDispose]());
    const app = await startOidcApp(t, port, server.url);
    await userAgent().go(`${app}/login`, { email: EMAIL, password: PASSWORD });
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await server.logged("logout_not_delivered");
    await openView(page, server.url, "#/session");
    const row = page.getByRole("row").filter({ hasText: "app" });
    await row.getByText("1 the app refused the logout with 400").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    target.answer((_, response) => response.writeHead(200).end());
    await row.getByRole("button", { name: "Tell again" }).click();
    await server.logged("logout_delivered");
    await row.getByText("0", { exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a view without content says what it is for, and what to do first", async (t) => {
    const server = await startServer({ env: { WEBHOOK_SECRET: undefined } });
    t.after(() => server[Symbol.asyncDispose]());
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    for (const view of ["events", "dead-letters", "refused", "denied", "outages", "sources", "tokens"]) {
      await openView(page, server.url, `#/${view}`);
      const empty = page.locator(".empty");
      await empty.first().waitFor();
      for (const one of await empty.all()) {
        assert.equal(await one.locator("p").count(), 3, `${view}: a title, a sentence and a step`);
        assert.equal(await one.locator("p").last().locator("a, code, button").count(), 1, view);
      }
      assert.deepEqual(await violationsOf(page), [], view);
    }
    assert.deepEqual(complaints, []);
  });

  test("in Spanish if the browser asks for it", async () => {
    await using profile = await openProfile(browser, { locale: "es-ES" });
    const page = await openPage(profile, server.url);
    await page.getByRole("link", { name: /^Eventos/ }).waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), "es");
  });

  test("a route is paused and resumed, and an alert silenced", async (t) => {
    const { server } = await startShop(t);
    await using profile = await openProfile(browser);
    const page = await openPage(profile, server.url);
    await page.goto(`${server.url}/admin/#/routes`);
    await page.getByRole("button", { name: /^Pause/ }).click();
    await page.getByLabel("8 hours").check();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Pause/ })
      .click();
    await page.getByRole("button", { name: /^Resume/ }).waitFor();
    const { stdout } = await server.run(["routes", "list"]);
    assert.match(stdout, /^shop +paused/m);
    await page
      .getByText(/It ends in\s[78]\shr/)
      .first()
      .waitFor();
    await page.goto(`${server.url}/admin/#/alerts`);
    await page.getByRole("button", { name: "Send a test alert" }).click();
    await page.getByText("exec-cat: sent").first().waitFor();
    await page.getByText("jobs are in the dead letters").first().waitFor();
  });

  test("an alert says that nobody was told, how to be told, and then who was told", async (t) => {
    const target = await startTarget();
    t.after(() => target[Symbol.asyncDispose]());
    target.answer((_, response) => void response.writeHead(500).end());
    const dir = workingDir();
    const write = (notify: string) =>
      writeFileSync(
        join(dir, "authserve.yaml"),
        `routes:\n  - { name: shop, to: ${target.url}, retry: { delays: [1ms] } }\nalerts: { failureRate: off, ${notify} }\n`,
      );
    write("");
    const server = await startServer({ dir });
    t.after(() => server[Symbol.asyncDispose]());
    await deliver(server, { id: "evt_1", type: "order.paid" });
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await page.goto(`${server.url}/admin/#/alerts`);
    const card = page.locator("li.card").filter({ hasText: "AuthserveDeadLetters" });
    await card.getByText("Nobody").waitFor();
    await card.getByRole("button", { name: /^Add a notifier/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("ntfy: env:NTFY_URL").waitFor();
    await dialog.getByRole("combobox").selectOption("exec");
    await dialog.getByText("exec: [/usr/local/bin/page]").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await dialog.getByRole("button", { name: "Close" }).click();
    write('notify: [{ exec: [cat] }, { exec: ["false"] }]');
    await card
      .locator("li")
      .filter({ hasText: /exec-cat.*sent/ })
      .waitFor();
    await card
      .locator("li")
      .filter({ hasText: /exec-false.*failed, is tried again.*1/ })
      .waitFor();
    await page.getByText("Alerts are sent to exec-cat, exec-false.").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    assert.deepEqual(complaints, []);
  });

  test("a route shows how the answers of its shadow compare, and its counts lead to their events", async (t) => {
    const [present, next] = [await startTarget(), await startTarget()];
    for (const [target, total] of [
      [present, 1],
      [next, 2],
    ] as const) {
      t.after(() => target[Symbol.asyncDispose]());
      target.answer((_, response) => void response.writeHead(200).end(JSON.stringify({ total })));
    }
    const dir = workingDir();
    const routes = [
      `{ name: billing, types: [order.paid], to: ${present.url} }`,
      "{ name: audit, log: {} }",
      `{ name: billing-next, to: ${next.url}, shadow: { of: billing } }`,
    ];
    writeFileSync(join(dir, "authserve.yaml"), `routes:\n${routes.map((route) => `  - ${route}\n`).join("")}`);
    const server = await startServer({ dir, env: { FORWARD_URL: undefined } });
    t.after(() => server[Symbol.asyncDispose]());
    for (const type of ["order.paid", "order.sent"]) await deliver(server, { id: `evt_${type}`, type });
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await openView(page, server.url, "#/routes/billing");
    const shadow = page.locator("section").filter({ has: page.getByRole("heading", { name: "Shadow billing-next" }) });
    await shadow.getByRole("link", { name: "evt_order.paid" }).waitFor();
    await shadow.getByText("body total").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    const processed = page.locator("dl div").filter({ hasText: /^Processed/ });
    await processed.getByRole("link", { name: "1", exact: true }).click();
    await page.getByRole("link", { name: "evt_order.paid" }).waitFor();
    assert.equal(await page.locator("select[name=route]").inputValue(), "billing");
    assert.deepEqual(await page.locator("a.row").allTextContents(), ["evt_order.paid"]);
    assert.deepEqual(complaints, []);
  });

  test("an outage is shown with what its sender does, and a catch-up begun", async (t) => {
    const provider = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(200, { "content-type": "application/json" }).end("[]");
    });
    const asked: string[] = [];
    await once(provider.listen(0, "127.0.0.1"), "listening");
    t.after(() => provider.close());
    const api = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const dir = workingDir();
    const catchUp = `{ token: env:TOKEN, hook: "${api}/repos/o/r/hooks/1", host: "${api}" }`;
    writeFileSync(
      join(dir, "authserve.yaml"),
      `sources: { code: { preset: github, secrets: [env:SECRET], catchUp: ${catchUp} } }\n`,
    );
    const env = { SECRET: "a-secret-that-is-long-enough", TOKEN: "a-token-of-the-test" };
    const database = openDatabase(join(dir, "data"));
    const to = Date.now() - 60_000;
    await localStores(database).outages.record({ kind: "disk", from: to - 3_600_000, to }, 0);
    database.close();
    const server = await startServer({ dir, env });
    t.after(() => server[Symbol.asyncDispose]());
    await using profile = await openProfile(browser);
    const page = await openPage(profile, server.url);
    await page.goto(`${server.url}/admin/#/sources`);
    await page.getByRole("link", { name: "Outages" }).click();
    await page.getByRole("heading", { name: "Too little disk space was free for 1 hr" }).waitFor();
    await page.getByText("GitHub: does not repeat by itself; it can be asked for 3 days").waitFor();
    await page.getByText("authserve sources catch-up code").waitFor();
    await page.getByRole("button", { name: /^Catch up now/ }).click();
    await page.getByText("0 asked for, 0 stored from the API, 0 do not come, 0 left").waitFor();
    assert.deepEqual(asked, ["GET /repos/o/r/hooks/1/deliveries?per_page=100"]);
    await page.getByText("Nothing", { exact: true }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test("a chart of counts has bars, and nothing where nothing was counted", async () => {
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await page.locator(".plot canvas").first().waitFor();
    // The columns of pixels that have each colour, and all.
    const columns = await page.evaluate(`(() => {
      const canvas = document.querySelector(".plot canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const has = (rgb) => (x) => Array.from({ length: canvas.height }, (_, y) => (y * canvas.width + x) * 4)
        .some((at) => rgb.every((part, index) => data[at + index] === part));
      const all = Array.from({ length: canvas.width }, (_, x) => x);
      const count = (rgb) => all.filter(has(rgb)).length;
      return { received: count([0x1b, 0x5b, 0xc0]), failed: count([0xb3, 0x26, 0x0f]), all: canvas.width };
    })()`);
    const { received, failed, all } = columns as { received: number; failed: number; all: number };
    for (const bars of [received, failed]) assert.ok(bars > 0 && bars < all / 10, JSON.stringify(columns));
    assert.deepEqual(complaints, []);
  });

  test("new events are marked at the top, and move no row that is read", async (t) => {
    const { server, isBroken } = await startShop(t);
    isBroken.now = false;
    const send = async (...ids: string[]) => {
      for (const id of ids) await deliver(server, { id, type: "order.paid" });
    };
    await send(...Array.from({ length: 40 }, (_, index) => `evt_old_${index}`));
    await using profile = await openProfile(browser, { reducedMotion: "reduce" });
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, server.url);
    await openView(page, server.url, "#/events?live=1");
    const ids = page.locator("a.row");
    await until(async () => (await ids.count()) === 45);
    const marked = page.locator("tr").filter({ has: page.getByText("New", { exact: true }) });
    assert.equal(await marked.count(), 0);

    const type = page.locator("#filter-type");
    await type.fill("half a ty");
    await send("evt_new_1");
    await marked.getByRole("link", { name: "evt_new_1" }).waitFor();
    assert.equal(await ids.first().textContent(), "evt_new_1");
    assert.equal(await type.inputValue(), "half a ty", "what is being typed stays");
    await type.fill("");
    await page.getByRole("status").filter({ hasText: "1 new event" }).waitFor();
    assert.deepEqual(await violationsOf(page), []);

    const read = page.getByRole("link", { name: "evt_old_20", exact: true });
    const topOf = async () => Math.round((await read.boundingBox())?.y ?? Number.NaN);
    await page.mouse.wheel(0, 700);
    await until(async () => (await page.evaluate("scrollY")) === 700);
    const scrolled = await topOf();
    await send("evt_new_2", "evt_new_3");
    const showNew = page.getByRole("button", { name: "Show 2 new events" });
    await showNew.waitFor();
    assert.equal(await topOf(), scrolled);
    await showNew.click();
    await until(async () => (await marked.locator("a.row").allTextContents()).join().startsWith("evt_new_3,evt_new_2"));
    assert.equal(await page.evaluate("scrollY"), 0);

    // With the keyboard in a row the page may be at its top.
    await page.keyboard.press("j");
    const focused = page.locator("a.row:focus");
    const name = await focused.textContent();
    const before = await focused.boundingBox();
    await send("evt_new_4");
    await page.getByRole("button", { name: "Show 1 new event" }).waitFor();
    assert.deepEqual([await focused.textContent(), await focused.boundingBox()], [name, before]);
    assert.deepEqual(complaints, []);
  });

  test("a token is created and shown once, and revoked", async () => {
    await using profile = await openProfile(browser);
    const page = await openPage(profile, server.url);
    await page.goto(`${server.url}/admin/#/tokens`);
    // The empty list has the button, too.
    await page.getByRole("button", { name: "Create a token" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("robot");
    await dialog.getByRole("checkbox", { name: /^verify/ }).check();
    await dialog.getByRole("checkbox", { name: /^events:read/ }).check();
    await dialog.getByLabel("Only at this host").fill("no host");
    await dialog.getByRole("button", { name: "Create a token" }).click();
    await dialog.getByRole("alert").filter({ hasText: /./ }).waitFor();
    await dialog.getByLabel("Only at this host").fill("app.example.com");
    await dialog.getByRole("button", { name: "Create a token" }).click();
    const value = await page.getByRole("status").locator("code").textContent();
    assert.match(String(value), /^ask_[0-9A-Za-z]{36}$/);
    await page.reload();
    const row = page.getByRole("row").filter({ hasText: "robot" });
    assert.match(String(await row.textContent()), /events:read verify:app\.example\.com/);
    assert.ok(!(await page.content()).includes(String(value)));
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
  });

  test("the end of a session is told a minute before, and a session is renewed while the page is used", async () => {
    await using profile = await openProfile(browser);
    const page = await openPage(profile, server.url);
    let leftMs = 50_000;
    const renewals: string[] = [];
    await page.route("**/admin/api/session", async (route) => {
      const response = await route.fetch();
      const expiresAt = new Date(Date.now() + leftMs).toISOString();
      await route.fulfill({ response, json: { ...(await response.json()), expiresAt } });
    });
    page.on("request", (request) => {
      if (new URL(request.url()).pathname === "/login/renew") renewals.push(request.url());
    });
    // Who has just logged in uses the page: it asks by itself.
    await page.reload();
    await until(() => renewals.length > 0);
    const stay = page.getByRole("button", { name: "Stay logged in" });
    await stay.waitFor();
    await stay.click();
    await page.getByText("The session has its full age").waitFor();
    leftMs = 900_000;
    await page.reload();
    await page.locator("h1").waitFor();
    assert.equal(await stay.count(), 0);
  });

  test("a session that ended elsewhere is said, with the way to log in", async () => {
    await using profile = await openProfile(browser);
    const page = await openPage(profile, server.url);
    await logIn(server);
    await page.goto(`${server.url}/admin/#/events`);
    const link = page.getByRole("link", { name: /log in/i });
    await link.waitFor();
    await link.click();
    await page.waitForURL((url) => url.pathname === "/login");
    await fillIn(page);
    assert.equal(new URL(page.url()).pathname, "/admin/");
  });

  test("behind a proxy that removes a part of the path", async (t) => {
    const { server } = await startShop(t, { TRUSTED_PROXIES: "127.0.0.1" });
    await using proxy = await startStrippingProxy(server.port, "/hooks");
    await using profile = await openProfile(browser);
    const complaints = await complaintsOf(profile);
    const page = await openPage(profile, proxy.url);
    assert.equal(page.url().startsWith(`${proxy.url}/admin/`), true, page.url());
    await page.goto(`${proxy.url}/admin/#/events`);
    await page.getByRole("link", { name: "evt_1" }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
