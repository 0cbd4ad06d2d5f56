import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { Authenticator } from "../../helpers/authenticator.ts";
import { totpCode } from "../../helpers/totp.ts";
import { until } from "../../helpers/until.ts";

// Uses the package that is installed and started in a booted Debian, as a person does. It runs in the network of that
// system: `nsenter -t INIT -n`. INSTALLED_INIT is the process id of its init.

const INIT = process.env.INSTALLED_INIT ?? "";
const AUTH = "auth.example.test";
const APP = "app.example.test";
const ORIGIN = `https://${AUTH}`;
const CREDENTIALS = { email: "you@example.com", password: "correct horse battery" };
const GITHUB_SECRET = "a secret of GitHub for the walk";
const NAVIGATION = { accept: "text/html", "sec-fetch-mode": "navigate" };

const PATH = "PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin";

/** Runs a command of the shell in the system, as root. */
const inside = (command: string, input = "") =>
  execFileSync("nsenter", ["-t", INIT, "-a", "env", "-i", PATH, "bash", "-euo", "pipefail", "-c", command], {
    encoding: "utf8",
    input,
  });

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A browser that keeps the cookies of the domain and of each host, and follows no redirect. */
class Browser {
  readonly #cookies = new Map<string, { value: string; domain: string }>();

  async ask(host: string, path: string, fields?: Record<string, string>): Promise<Reply> {
    const sent = [...this.#cookies].filter(([, { domain }]) => host === domain || host.endsWith(`.${domain}`));
    const headers = {
      ...NAVIGATION,
      host,
      ...(sent.length > 0 ? { cookie: sent.map(([name, { value }]) => `${name}=${value}`).join("; ") } : {}),
      ...(fields && { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" }),
    };
    const method = fields ? "POST" : "GET";
    const sending = request({ host: "127.0.0.1", servername: host, rejectUnauthorized: false, method, path, headers });
    sending.end(fields && new URLSearchParams(fields).toString());
    const [response] = await once(sending, "response");
    for (const line of (response.headers["set-cookie"] ?? []) as string[]) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const domain = /; Domain=([^;]+)/i.exec(line)?.[1] ?? host;
      if (/; Max-Age=0;/.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, { value, domain });
    }
    return { status: response.statusCode, headers: response.headers, text: await readText(response) };
  }
}

/** What the app has received, by its path. */
const received: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
const app = createServer(async (incoming, response) => {
  received.push({ path: incoming.url ?? "", headers: incoming.headers, body: await readText(incoming) });
  response.end("the app");
});

before(async () => {
  app.listen(8080, "127.0.0.1");
  await once(app, "listening");
  inside(
    `
    cp -a /etc/authserve /srv/authserve-before
    cat >>/etc/authserve/authserve.conf
    cat >/etc/authserve/authserve.yaml <<'YAML'
sources:
  github: { preset: github, secrets: [env:GITHUB_SECRET] }
routes:
  - name: chat
    source: github
    transform: { jsonata: "{ 'text': sender.login & ' pushed' }" }
    http: { url: "http://127.0.0.1:8080/chat" }
YAML
    systemctl stop caddy
    for name in ${AUTH} ${APP}; do
      mkdir -p /etc/letsencrypt/live/$name
      cd /etc/letsencrypt/live/$name
      openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=$name -keyout privkey.pem -out fullchain.pem 2>/dev/null
    done
    cd /usr/share/doc/authserve/deploy
    sed s/example.com/example.test/g nginx.conf >/etc/nginx/conf.d/authserve.conf
    sed s/example.com/example.test/g nginx-app.conf >/etc/nginx/conf.d/app.conf
    rm -f /etc/nginx/sites-enabled/default
    nginx -t
    systemctl start nginx
    systemctl restart authserve
    service-authserve ready`,
    `PUBLIC_URL=${ORIGIN}\nCOOKIE_DOMAIN=example.test\nTRUSTED_PROXIES=127.0.0.1,::1\nGITHUB_SECRET=${GITHUB_SECRET}\n`,
  );
});

after(() => {
  app.close();
  app.closeAllConnections();
});

const browser = new Browser();
const key = new Authenticator();
let secret = "";

test("one login through nginx opens an app of the domain", async () => {
  const away = await browser.ask(APP, "/page");
  assert.equal(away.status, 302);
  assert.equal(away.headers.location, `${ORIGIN}/login?rd=${encodeURIComponent(`https://${APP}/page`)}`);
  const login = await browser.ask(AUTH, "/login", { ...CREDENTIALS, rd: `https://${APP}/page` });
  assert.deepEqual([login.status, login.headers.location], [303, `https://${APP}/page`]);
  assert.equal((await browser.ask(APP, "/page")).text, "the app");
  assert.equal(received.at(-1)?.headers["remote-email"], CREDENTIALS.email);
});

test("an authenticator app is added with its QR code, and its code logs in", async () => {
  const page = await browser.ask(AUTH, "/account/totp");
  assert.match(page.text, /<svg/);
  secret = /name="secret" value="(\w+)"/.exec(page.text)?.[1] ?? "";
  const added = await browser.ask(AUTH, "/account/totp", { secret, code: totpCode(secret), name: "phone" });
  assert.match(added.text, /<ul class="codes">/);
  const begun = await browser.ask(AUTH, "/login", { ...CREDENTIALS, rd: "/account" });
  assert.equal(begun.headers.location, "/login/code?rd=%2Faccount");
  // The code that proved the app proves no login. That of the next 30 seconds is valid already.
  const code = totpCode(secret, Date.now() + 30_000);
  assert.equal((await browser.ask(AUTH, "/login/code", { code, rd: "/account" })).headers.location, "/account");
});

test("a passkey is added and logs in", async () => {
  const options = JSON.parse((await browser.ask(AUTH, "/account/passkey")).text);
  const made = await browser.ask(AUTH, "/account/passkey", { answer: key.create(options, ORIGIN), name: "key" });
  assert.ok(made.status < 400, made.text);
  const other = new Browser();
  const challenge = JSON.parse((await other.ask(AUTH, "/login/passkey")).text);
  const answer = key.get(challenge, ORIGIN);
  const login = await other.ask(AUTH, "/login/passkey", { answer, rd: `https://${APP}/` });
  assert.equal(login.headers.location, `https://${APP}/`);
  assert.equal((await other.ask(APP, "/")).text, "the app");
  assert.equal((await browser.ask(APP, "/")).status, 302, "the earlier session has ended");
});

async function deliverPush(id: string): Promise<void> {
  const body = JSON.stringify({ ref: "refs/heads/main", after: id, sender: { login: "octocat" } });
  const sending = request({
    host: "127.0.0.1",
    servername: AUTH,
    rejectUnauthorized: false,
    method: "POST",
    path: "/webhook/github",
    headers: {
      host: AUTH,
      "content-type": "application/json",
      "x-github-event": "push",
      "x-github-delivery": id,
      "x-hub-signature-256": await sign(GITHUB_SECRET, body),
    },
  });
  sending.end(body);
  const [response] = await once(sending, "response");
  assert.equal(response.statusCode, 200, await readText(response));
}

const ofPath = (path: string) => received.filter((one) => one.path === path);

test("a delivery of GitHub is forwarded by a route that transforms it", async () => {
  await deliverPush("walk-1");
  await until(() => ofPath("/chat").length > 0);
  assert.equal(ofPath("/chat")[0]?.body, '{"text":"octocat pushed"}');
});

test("listen sends the event to another program", async () => {
  const args = ["listen", "--forward", "http://127.0.0.1:8080/listen", "--from-start"];
  const command = spawn("nsenter", ["-t", INIT, "-a", "env", "-i", PATH, "service-authserve", ...args]);
  await until(() => ofPath("/listen").length > 0);
  assert.equal(ofPath("/listen")[0]?.headers["x-event-type"], "push");
  command.kill("SIGINT");
  await once(command, "exit");
});

const event = (id: string) => JSON.parse(inside(`service-authserve events show ${id} --source github --json`));

test("an erased event has no payload", async () => {
  await deliverPush("walk-2");
  inside("service-authserve events erase walk-1 --source github --reason walk");
  assert.equal(event("walk-1").erased.reason, "walk");
  assert.equal(event("walk-2").erased, null);
});

test("payloads are encrypted by the commands of the manual, and read with the key", () => {
  inside("service-authserve backup walk.db");
  const manual = readFileSync(join(import.meta.dirname, "../../../docs/private-payloads.md"), "utf8");
  const [, commands = ""] = /```sh\n([^`]*service-authserve encrypt\n)```/.exec(manual) ?? [];
  assert.notEqual(commands, "");
  inside(`${commands}service-authserve ready`);
  assert.match(inside("service-authserve events list --search octocat"), /walk-2/);
});

test("doctor finds nothing wrong", () => {
  const findings: { verdict: string }[] = JSON.parse(inside("service-authserve doctor --json"));
  assert.deepEqual(
    findings.filter(({ verdict }) => verdict === "wrong"),
    [],
  );
});

test("a restored backup has what was there", () => {
  inside(`
    sed -i /^ENCRYPTION_KEYS/d /etc/authserve/authserve.conf
    systemctl stop authserve
    service-authserve restore walk.db
    systemctl start authserve
    service-authserve ready`);
  assert.equal(event("walk-1").erased.reason, "walk");
  assert.equal(event("walk-2").erased, null);
});

test("without its factors and settings it is as before", () => {
  inside(`
    for id in $(service-authserve factors list --json | grep -o '"id":"[0-9a-f]*"' | cut -d'"' -f4); do
      service-authserve factors remove $id
    done
    systemctl stop nginx
    rm -r /etc/nginx/conf.d/authserve.conf /etc/nginx/conf.d/app.conf /etc/letsencrypt /var/lib/authserve/walk.db
    cp -a /srv/authserve-before/. /etc/authserve/
    rm -r /srv/authserve-before /etc/authserve/key-2026
    systemctl restart authserve
    systemctl start caddy
    service-authserve ready`);
});
