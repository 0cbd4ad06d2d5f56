import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import bcrypt from "@node-rs/bcrypt";
import { Authenticator } from "../helpers/authenticator.ts";
import { binaryIsMissing, BINARY as program, runBinary } from "../helpers/binary.ts";
import { deliver, event, logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { PageClient } from "../helpers/page-client.ts";
import { freePort } from "../helpers/ports.ts";
import { type Server, settings, startServer } from "../helpers/server.ts";
import { startSmtpServer } from "../helpers/stand-ins/smtp-server.ts";
import { startTarget } from "../helpers/target.ts";
import { totpCode } from "../helpers/totp.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SRC = join(import.meta.dirname, "../../src");
const ORIGIN = "https://auth.example.com";
const SITE = { PUBLIC_URL: ORIGIN, COOKIE_DOMAIN: "example.com", TRUSTED_PROXIES: "127.0.0.1" };
const CREDENTIALS = { email: EMAIL, password: PASSWORD };

/** A browser on the pages of a server, which it reaches through a proxy that ends TLS. */
async function onAccount(server: Pick<Server, "url">): Promise<PageClient> {
  const browser = new PageClient(server, { host: new URL(ORIGIN).host });
  assert.equal((await browser.send("/login", { ...CREDENTIALS, rd: "/account" })).status, 303);
  return browser;
}

/** Uses each package that is loaded when it is first needed, by the file of `src` that exports it. */
const USES: Record<string, (t: TestContext) => Promise<void>> = {
  async "config/tldts.ts"() {
    const refused = await runBinary(["serve"], {
      dir: workingDir(),
      env: settings(workingDir(), { PUBLIC_URL: "https://me.github.io", COOKIE_DOMAIN: "github.io" }),
    });
    assert.match(refused.stderr, /^error: COOKIE_DOMAIN is a public suffix/);
  },

  async "auth/bcrypt.ts"() {
    await using server = await startServer({ program, env: { DEMO_PASSWORD: await bcrypt.hash(PASSWORD, 4) } });
    await logIn(server);
  },

  async "auth/factors/otplib.ts"() {
    await using server = await startServer({ program, env: SITE });
    const browser = await onAccount(server);
    const secret = /name="secret" value="(\w+)"/.exec((await browser.open("/account/totp")).text)?.[1] ?? "";
    const added = await browser.send("/account/totp", { secret, code: totpCode(secret), name: "phone" });
    assert.match(added.text, /<ul class="codes">/);
  },

  async "auth/factors/uqr.ts"() {
    await using server = await startServer({ program, env: SITE });
    assert.match((await (await onAccount(server)).open("/account/totp")).text, /<svg[^>]*>.*<path/s);
  },

  async "auth/factors/simplewebauthn.ts"() {
    await using server = await startServer({ program, env: SITE });
    const browser = await onAccount(server);
    const { text } = await browser.open("/account/passkey");
    const key = new Authenticator();
    const answer = key.create(JSON.parse(text), ORIGIN);
    await browser.send("/account/passkey", { answer, name: "key" });
    assert.equal((await server.logged("factor_added")).kind, "passkey");
    const login = JSON.parse((await browser.open("/login/passkey")).text);
    assert.equal((await browser.send("/login/passkey", { answer: key.get(login, ORIGIN), rd: "/" })).status, 303);
    await until(() => server.log("login_succeeded").some(({ method }) => method === "passkey"));
  },

  async "worker/transform/load-jsonata.ts"() {
    const dir = workingDir();
    await using target = await startTarget();
    const route = `{ name: r, transform: { jsonata: "$uppercase(id)" }, http: { url: "${target.url}" } }`;
    writeFileSync(join(dir, "authserve.yaml"), `routes: [${route}]`);
    await using server = await startServer({ program, dir });
    assert.equal((await deliver(server, event("evt_1"))).status, 200);
    await until(() => target.received.length > 0);
    assert.equal(target.received[0]?.body.toString(), "EVT_1");
  },

  async "cli/load-string-width.ts"() {
    const dir = workingDir();
    await using server = await startServer({ program, dir });
    await deliver(server, event("evt_1", { type: "a" }));
    await deliver(server, event("evt_2", { type: "注文" }));
    const { stdout } = await runBinary(["events", "list", "--utc"], { dir, env: server.env });
    // Each of these letters takes two columns.
    assert.match(stdout, / 注文 {2}evt_2\n.* a {5}evt_1\n/);
  },

  async "alerts/notifiers/nodemailer.ts"(t) {
    const dir = workingDir();
    const server = await startSmtpServer(t);
    const mail = `{ host: 127.0.0.1, port: ${server.port}, from: a@a.test, to: b@b.test }`;
    writeFileSync(join(dir, "authserve.yaml"), `alerts: { notify: [{ email: ${mail} }] }`);
    const { stdout } = await runBinary(["alerts", "test"], { dir });
    assert.match(stdout, /email-127\.0\.0\.1 +sent/);
    assert.equal(server.mails.length, 1);
  },

  // These two are imported by all files of their folder, which are loaded together.
  async "postgres/"() {
    const port = await freePort();
    const env = settings(workingDir(), { DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none` });
    const { stderr } = await runBinary(["events", "list"], { dir: workingDir(), env });
    assert.match(stderr, /ECONNREFUSED/);
  },

  async "redis/"() {
    const dir = workingDir();
    const env = settings(dir, { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(await freePort()) });
    const { stdout } = await runBinary(["doctor", "--json"], { dir, env });
    assert.match(stdout, /ECONNREFUSED/);
  },
};

/** Files of `src` that only export what is needed of a package. */
function filesOfPackages(): string[] {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  return files.filter((file) =>
    /^(?:export \{[^}]*\} from "[^."][^"]*";\n)+$/.test(readFileSync(join(SRC, file), "utf8")),
  );
}

suite("packages that the executable loads when they are first needed", { skip: binaryIsMissing() }, () => {
  for (const [file, use] of Object.entries(USES)) test(`work in it: that of ${file}`, use);

  test("are all in this list", () => {
    assert.deepEqual(
      filesOfPackages().filter((file) => !(file in USES)),
      [],
    );
  });
});
