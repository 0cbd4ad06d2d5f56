import assert from "node:assert/strict";
import { generateKeyPairSync, hash, type KeyObject } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Command, CommanderError } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import { isSettingName } from "../../src/config/settings.ts";
import { ask, deliver, event, logIn, post } from "../helpers/client.ts";
import { authserve, type CommandOptions, EXECUTABLE, runProgram, startProgram } from "../helpers/command.ts";
import { EMAIL, PASSWORD, PASSWORD_HASH, WEBHOOK_SECRET } from "../helpers/credentials.ts";
import { type Block, blocksOf, commandsIn, PAGES, spansOf } from "../helpers/documented-blocks.ts";
import { type Server, settings, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { SECRET } from "../helpers/signed-sample.ts";
import { githubApi, TOKEN } from "../helpers/stand-ins/providers.ts";
import { servedApi } from "../helpers/stand-ins/served.ts";
import { createDeliveryLog } from "../helpers/stand-ins/stand-in.ts";
import { type ForwardTarget, startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const blocks = PAGES.flatMap(blocksOf);
const DEPLOY = join(import.meta.dirname, "../../deploy");
const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../fixtures", name));

const pem = (key: KeyObject) => key.export({ format: "pem", type: key.type === "private" ? "pkcs8" : "spki" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** What stands in for the files that the pages name. */
const FILES: Record<string, string | Buffer> = {
  "wise.pem": pem(rsa.publicKey),
  "sns.pem": fixture("rsa.crt"),
  "paypal-certificate.pem": fixture("rsa.crt"),
  "plaid-jwk.json": JSON.stringify({ ...ec.publicKey.export({ format: "jwk" }), kid: "one" }),
  "shop.pem": pem(ec.publicKey),
  "wallet.jwk": JSON.stringify(generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" })),
  "root.pem": fixture("chain-root.crt"),
  "service-account.json": JSON.stringify({
    type: "service_account",
    client_email: "one@example.iam.gserviceaccount.com",
    private_key: pem(rsa.privateKey),
    token_uri: "https://oauth2.googleapis.com/token",
  }),
  "secrets/github": SECRET,
  "secrets/stripe_old": "another secret of the tests",
  "ca.pem": fixture("first.crt"),
  "client.pem": fixture("first.crt"),
  "client.key": fixture("first.key"),
  "deploy.sh": "#!/bin/sh\n",
  "handlers/code.mjs": blocks.find(({ text }) => text.startsWith("// handlers/code.mjs"))?.text ?? "",
};

/** What stands in for a variable that a page names: a secret in most cases. */
function standIn(name: string): string {
  if (name.endsWith("_LOGIN")) return "ada:a password of the tests";
  if (name.endsWith("_URL")) return "https://chat.example/hook";
  if (name === "TELEGRAM_TOKEN") return `123456:${hash("sha256", name).slice(0, 35)}`;
  return name.endsWith("_HASH") ? PASSWORD_HASH : hash("sha256", name);
}

/** Blocks that this file does not run: what runs them, or why nothing does. */
const ELSEWHERE: readonly (readonly [page: string, beginning: RegExp, why: string])[] = [
  ["README.md", /^npm ci && npm test/, "is the suite itself"],
  ["docs/apps.md", /^(map|header_up|http-request|reverse_proxy|server app|sed -e)/, "run by test/backends/apps"],
  ["docs/apps.md", /^\/\*\* Ends a websocket/, "run by test/backends/apps"],
  ["docs/apps.md", /^\[/, "settings of Grafana and Gitea, which are not here"],
  ["docs/catch-up.md", /^2026/, "output"],
  ["docs/coming-from.md", /^(\[\{|services:)/, "settings of other products, which test/cli/import reads"],
  ["docs/cluster.md", /^(cp -r|docker)/, "needs Docker: test/backends/deploy/cluster runs the same files without it"],
  [
    "docs/containers.md",
    /^docker|^podman|^skopeo|^printf/,
    "needs images: test/release has the image and the files for Compose",
  ],
  ["docs/containers.md", /^npx authserve init/, "needs Kubernetes: test/release renders the chart"],
  ["docs/architecture.md", /^npm run/, "run by .ci/run"],
  ["docs/architecture.md", /^apt-get/, "compared with what a release runs by test/release/tools"],
  ["docs/architecture.md", /^gpg/, "run by .ci/binary"],
  ["docs/develop-locally.md", /^2026/, "output"],
  [
    "docs/faults.md",
    /^authserve selftest crash/,
    "takes minutes: test/system/cli/selftest-crash runs it with fewer rounds",
  ],
  ["docs/getting-started.md", /^npm ci/, "run by .ci/first-start"],
  ["docs/getting-started.md", /^(\{|RECEIVED)/, "output"],
  ["docs/getting-started.md", /^import/, "an app, of which test/first-use has a stand-in"],
  ["docs/http-api.md", /^\{/, "output"],
  ["docs/install-elsewhere.md", /^(tar -xzOf|AUTHSERVE_DEB)/, "run by .ci/automation, with stand-ins for Proxmox VE"],
  ["docs/monitoring.md", /^rule_files/, "run by test/backends/deploy/prometheus-rules"],
  [
    "docs/monitoring.md",
    /^cp deploy/,
    "needs a service of Prometheus: test/backends/deploy/prometheus-rules checks the same files",
  ],
  ["docs/monitoring.md", /^# \/etc\/grafana/, "settings of Grafana, which is not here"],
  ["docs/operate.md", /^error:/, "output"],
  ["docs/operate.md", /^\[Service\]/, "needs systemd"],
  ["docs/operate.md", /^(minisign|apt-get|dnf|sh install|tar |systemctl disable|rm )/, "run by .ci/deploy"],
  ["docs/operate.md", /^(curl -fsSLo|cat) [^ ]*\/(keyrings|yum)/, "run by .ci/repositories"],
  ["docs/people.md", /^authserve people/, "run by test/system/invitations"],
  ["docs/postgresql.md", /^(CREATE|DATABASE_URL|pg_dump|pg_restore)/, "needs PostgreSQL: test/backends/postgres"],
  [
    "docs/private-payloads.md",
    /^\(umask 077; openssl rand -base64 32 >|^authserve encrypt/,
    "run by .ci/deploy and test/system/cli/encrypt",
  ],
  ["docs/private-payloads.md", /^VACUUM/, "needs PostgreSQL"],
  ["docs/protect-an-app.md", /^(location \/hook|if |@private|acl is_public)/, "run by test/backends/proxy-cases"],
  ["docs/protect-an-app.md", /^include \/data/, "run by test/backends/deploy/as-they-are"],
  ["docs/protect-an-app.md", /^location = \/auth\/verify/, "run by test/backends/other-nginx"],
  ["docs/protect-an-app.md", /^(- name: envoy|request_headers_to_remove)/, "settings of Envoy, which is not here"],
  ["docs/protect-an-app.md", /^(listen 443|bind quic4)/, "run by test/backends/http3"],
  [
    "docs/protect-an-app.md",
    /^(location \/sso|redir|http-request redirect|backend authserve)/,
    "run by test/backends/proxy-cases",
  ],
  ["docs/protect-an-app.md", /^const response/, "needs a browser"],
  ["docs/protect-an-app.md", /^(\/\*\* Null without|import json)/, "a part of an app"],
  ["docs/protect-an-app.md", /^\{/, "output"],
  ["docs/receive-webhooks.md", /^(\{|This would accept)/, "output"],
  ["docs/receive-webhooks.md", /^import/, "the commands below it send the same"],
  ["docs/receive-webhooks.md", /^(cloudflared|stripe listen)/, "needs an account at another service"],
  ["docs/recipes.md", /^(rest_command|receivers)/, "settings of a sender"],
  ["docs/recipes.md", /^curl/, "asks another service"],
  ["docs/routes.md", /^\/\/ handlers/, "loaded by the configuration of docs/reference/configuration-file.md"],
  ["docs/second-factor.md", /^read/, "needs the code of an authenticator app"],
  [
    "docs/tokens-and-access.md",
    /^scrape_configs/,
    "settings of Prometheus: test/backends/deploy/prometheus has the same",
  ],
  ["docs/tokens-and-access.md", /^machine/, "settings of curl and git"],
  ["docs/troubleshooting.md", /^(warning|\{|DATA_DIR)/, "output"],
  ["docs/what-your-app-gets.md", /^(import|func)/, "run by test/system/app-examples"],
  ["docs/what-your-app-gets.md", /^INSERT/, "needs the database of an app"],
  ["docs/reference/commands.md", /^#/, "generated: each command is parsed"],
];

const exceptionOf = ({ page, text }: Block) =>
  ELSEWHERE.find(([ofPage, beginning]) => ofPage === page && beginning.test(text))?.[2];

/** Blocks that need a folder of their own, without a server. Those of a page share it. */
const FRESH = ["./authserve serve", "npx authserve serve", "systemctl stop authserve"];

/** A part of a configuration file, with what must be in it once. */
interface Part {
  block: Block;
  /** The lines below each key of the file. */
  sections: Map<string, string>;
  names: string[];
}

const indented = (text: string, by: string) => text.replace(/^(?=.)/gm, by);

/** The configurations of a block: several where a key is there twice, because the second is another way to write it. */
function partsOf(block: Block): Part[] {
  const { kind, text } = block;
  const part = (text: string): Part => {
    const sections = new Map(
      Array.from(text.matchAll(/^(\w+):\n((?:[ #].*\n)*)/gm), ([, key = "", below = ""]) => [key, below]),
    );
    const names = [...sections].flatMap(([key, below]) => {
      if (key === "sources") return below.match(/^ {2}[\w-]+(?=:)/gm) ?? [];
      if (key === "routes") return below.match(/name: [\w-]+/g) ?? [];
      return key === "access" ? [] : [key];
    });
    return { block, sections, names };
  };
  if (kind === "configuration") return [part(text)];
  if (kind === "routes") return [part(`routes:\n${indented(text, "  ")}`)];
  const name = `line-${block.line}`;
  if (kind === "source") {
    const source = `  ${name}:\n    preset: shopify\n    secrets: [env:SHOP_SECRET]\n`;
    return [part(`sources:\n${source}${indented(text, "    ")}`)];
  }
  const [key] = text.split(":");
  const alternatives = text.split(new RegExp(`^(?=${key}:)`, "m"));
  const target = key === "http" ? "" : "    to: http://127.0.0.1:8080/\n";
  return alternatives.map((one, at) => part(`routes:\n  - name: ${name}-${at}\n${target}${indented(one, "    ")}`));
}

/** Puts parts into as few files as their names allow, because each file costs a start of the server. */
function packed(parts: readonly Part[]): Part[][] {
  const files: Part[][] = [];
  for (const part of parts) {
    const taken = (file: Part[]) => file.some(({ names }) => names.some((name) => part.names.includes(name)));
    const file = files.find((one) => !taken(one));
    if (file) file.push(part);
    else files.push([part]);
  }
  return files;
}

const placeOf = ({ page, line }: Block) => `${page}:${line}`;

/** The text of a file with parts. A comment tells where each is from. Sources that only routes name are added. */
function textOf(parts: readonly Part[]): string {
  const sections = new Map<string, string>();
  for (const { block, sections: own } of parts) {
    for (const [key, below] of own) sections.set(key, `${sections.get(key) ?? ""}  # ${placeOf(block)}\n${below}`);
  }
  const sources = sections.get("sources") ?? "";
  const named = [...(sections.get("routes") ?? "").matchAll(/\bsource: (\w+)/g)].map(([, name = ""]) => name);
  const lacking = [...new Set(named)].filter((name) => !new RegExp(`^  ${name}:`, "m").test(sources));
  const added = lacking.map((name) => `  ${name}: { preset: ${name}, secrets: [env:STAND_IN] }\n`).join("");
  if (sources + added !== "") sections.set("sources", sources + added);
  return Array.from(sections, ([key, below]) => `${key}:\n${below}`).join("");
}

/** A folder with the file, and with stand-ins for the files and variables that it names. */
function prepared(file: string): { dir: string; env: Record<string, string> } {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), file);
  for (const [name, content] of Object.entries(FILES)) {
    if (!file.includes(name)) continue;
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content, { mode: 0o700 });
  }
  const variables = [...file.matchAll(/\benv:(\w+)/g)].map(([, name = ""]) => [name, standIn(name)]);
  return { dir, env: { ...Object.fromEntries(variables), ...NO_NETWORK } };
}

/** Sends what a server asks of other hosts to a port where nothing listens. */
const NO_NETWORK = {
  NODE_USE_ENV_PROXY: "1",
  HTTP_PROXY: "http://127.0.0.1:1",
  HTTPS_PROXY: "http://127.0.0.1:1",
  NO_PROXY: "127.0.0.1",
};

suite("a server starts with the configurations of the documentation", { concurrency: 2 }, () => {
  const parts = blocks
    .filter(({ kind }) => ["configuration", "routes", "route", "source"].includes(String(kind)))
    .filter((block) => !exceptionOf(block))
    .flatMap(partsOf);
  for (const file of packed(parts)) {
    const places = [...new Set(file.map(({ block }) => placeOf(block)))].join(", ");
    test(places, async () => {
      const text = textOf(file);
      const { dir, env } = prepared(text);
      const { code, stderr } = await authserve(["config", "check"], { dir, env });
      assert.equal(code, 0, `${stderr}\n${text}`);
      await using server = await startServer({ dir, env });
      assert.deepEqual(
        server.log().filter(({ level }) => !["info", "warn"].includes(level)),
        [],
      );
      assert.equal((await server.stop()).code, 0);
    });
  }
});

/** What the commands of the pages run as. `service-authserve` of a checkout has no service. */
const PROGRAMS: Record<string, string> = {
  authserve: `exec "${EXECUTABLE}" "$@"`,
  "service-authserve": `exec "${EXECUTABLE}" "$@"`,
  npx: 'exec "$@"',
  // The lines that the pages look for.
  journalctl: 'cat "$LOG"',
  systemctl: "exit 0",
  // The backup is in its place.
  install: "exit 0",
};

/** What the text of a page becomes here. */
const replacements = (server: Server, target: string, dir: string): [from: string | RegExp, to: string][] => [
  // A proxy would ask for it.
  ["https://dav.example.com/\n", `${server.url}/auth/verify -H "X-Original-URL: https://dav.example.com/"\n`],
  [/https:\/\/(auth\.example\.com|your\.name\.example)(?=[/ '"]|$)/gm, server.url],
  ["http://127.0.0.1:3000", server.url],
  ["http://localhost:3000", new URL(target).origin],
  [/curl /g, "curl --fail-with-body --silent --show-error "],
  [/(demo|you)@example\.com/g, EMAIL],
  ["your password", PASSWORD],
  [/\/etc\/authserve(?=\/)/g, dir],
  ["/srv/authserve", join(dir, "imported")],
  // The only delivery that is held.
  [/\b17\b/g, "1"],
  // From before the first event.
  ["after=1042-1795678901234", "after=0-0"],
  // Another page has made a token of this name.
  ["create laptop --scope events", "create second-laptop --scope events"],
];

/** A command that does not end by itself. */
const isEndless = (line: string) => / (listen --|sources capture |serve --init)| --follow/.test(line);

/** The commands of a block, in groups: each that does not end by itself alone. */
function groupsOf(text: string): string[] {
  const groups: string[] = [];
  let isOpen = false;
  for (const command of text.trimEnd().split(/(?<!\\)\n/)) {
    if (isOpen && !isEndless(command)) groups.push(`${groups.pop()}\n${command}`);
    else groups.push(command);
    isOpen = !isEndless(command);
  }
  return groups;
}

suite("the commands of the documentation do what they say", () => {
  const ends: (() => unknown)[] = [];
  const dir = workingDir();
  let target: ForwardTarget;
  let server: Server;

  before(async () => {
    target = await startTarget();
    target.answer((_, response) => response.writeHead(500).end());
    const context = { after: (end: () => unknown) => void ends.push(end) };
    const api: { answer?: ReturnType<typeof githubApi> } = {};
    const origin = await servedApi(context, (request) => api.answer?.(request) as never);
    const hook = `${origin}/repos/o/r/hooks/1`;
    api.answer = githubApi(createDeliveryLog({ deliver: () => false, now: Date.now }), hook);
    const github = "preset: github, secrets: [file:secret.txt]";
    const files = {
      "authserve.yaml": `sources:
  shop: { verify: { header: x-signature, prefix: "sha256=" }, secrets: [env:SHOP_SECRET], keepRejected: { count: 1000 } }
  stripe: { preset: stripe, secrets: [env:STRIPE_SECRET] }
  github: { ${github}, path: /hooks/github }
  code: { preset: github, secrets: [env:CODE_SECRET], catchUp: { token: env:CODE_TOKEN, hook: "${hook}", host: "${origin}" } }
routes:
  - { name: billing, types: ["!old.*"], to: "${target.url}" }
  - { name: billing-next, to: "${target.url}", shadow: { of: billing } }
  - { name: old, types: [old.*], delay: 1h, log: {} }
access:
  - { host: app.example.com, path: /public/**, allow: everyone }
  - { host: dav.example.com, allow: [session, token] }
`,
      "new.yaml": "routes:\n  - { name: billing, log: {} }\n",
      "body.json": JSON.stringify(event("evt_file")),
      "push.json": '{"ref":"refs/heads/main"}',
      "secret.txt": SECRET,
      "compose.yaml": fixture("imports/tinyauth.yaml"),
      "hooks.json": fixture("imports/hooks.yaml"),
      ".env": `WEBHOOK_SECRET=${WEBHOOK_SECRET}\n`,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text, { mode: 0o600 });
    for (const folder of ["programs", "bin"]) mkdirSync(join(dir, folder));
    for (const [name, text] of Object.entries(PROGRAMS)) writeProgram(join(dir, "programs", name), text);
    for (const name of ["authserve", "bin/authserve"]) writeProgram(join(dir, name), PROGRAMS.authserve ?? "");
    server = await startServer({
      dir,
      env: {
        SHOP_SECRET: "a wrong secret of the shop",
        STRIPE_SECRET: standIn("STRIPE_SECRET"),
        CODE_SECRET: standIn("CODE_SECRET"),
        CODE_TOKEN: TOKEN,
        RETRY_ATTEMPTS: "1",
        ACCESS_LOG: "on",
        PUBLIC_URL: "https://auth.example.com",
        COOKIE_DOMAIN: "example.com",
        TRUSTED_PROXIES: "127.0.0.1",
        PATH: `${join(dir, "programs")}:${process.env.PATH}`,
      },
    });
    await deliver(server, event("evt_erased", { email: "maria@example.com" }));
    await deliver(server, { id: "evt_old", type: "old.order" });
    await ask(server, "/auth/verify", { headers: { "X-Original-URL": "https://dav.example.com/" } });
    await server.run(["send", "--source", "stripe"]);
    // The server refuses this: it has a wrong secret of the shop, and the commands have the right one.
    await ask(server, "/webhook", { method: "POST" });
    await fromShop("evt_held");
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
    for (const end of ends) await end();
  });

  function writeProgram(file: string, text: string): void {
    writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  async function fromShop(id: string): Promise<void> {
    const body = JSON.stringify(event(id));
    await post(server, "/webhook/shop", body, { "X-Signature": signature(body, standIn("SHOP_SECRET")) });
  }

  const folders = new Map<string, string>();

  /** The folder of a page whose commands need one of their own. */
  async function folderOf(page: string): Promise<string> {
    const known = folders.get(page);
    if (known !== undefined) return known;
    const own = workingDir();
    folders.set(page, own);
    writeProgram(join(own, "authserve"), PROGRAMS.authserve ?? "");
    await server.run(["backup", join(own, "backup.db")]);
    return own;
  }

  /** Where a block runs, and its settings. */
  async function placeFor({ page, text }: Block): Promise<CommandOptions> {
    const { PATH } = server.env;
    if (!FRESH.some((begin) => text.startsWith(begin))) {
      return { dir, env: { ...server.env, SHOP_SECRET: standIn("SHOP_SECRET") } };
    }
    const own = await folderOf(page);
    return { dir: own, env: isEndless(text) ? { PORT: "0", PATH } : settings(own, { PATH }) };
  }

  /** Stores an event that has failed, with two conflicts. */
  async function failedEvent(id: string): Promise<void> {
    for (const body of [event(id), event(id, { total: 1 }), event(id, { total: 2 })]) await deliver(server, body);
    await until(() => server.log("event_dead_lettered").some(({ eventId }) => eventId === id));
  }

  /** Runs a command until it has printed something, and then stops it. */
  async function runEndless(line: string, options: CommandOptions): Promise<void> {
    const command = startProgram("bash", ["--norc", "-c", `exec ${line}`], options);
    await until(() => `${command.stdout()}${command.stderr()}` !== "");
    if (line.includes("capture")) {
      await until(async () => {
        await fromShop("evt_captured");
        return existsSync(join(dir, "capture-shop-1.http"));
      });
    }
    if (line.includes("--init")) await until(() => command.stderr().includes("Ctrl+C"));
    command.child.kill("SIGTERM");
    await command.exited;
    assert.doesNotMatch(command.stderr(), /^error:/m, line);
  }

  async function run(block: Block): Promise<void> {
    const place = await placeFor(block);
    const id = `evt_line_${block.line}`;
    const replaced = [...replacements(server, target.url, place.dir), ["EVENT_ID", id] as const];
    const text = replaced.reduce((before, [from, to]) => before.replaceAll(from, to), block.text);
    if (text.includes(id)) await failedEvent(id);
    writeFileSync(join(dir, "log"), server.stdout());
    const TOKEN = text.includes("$TOKEN") ? await logIn(server) : undefined;
    const env = { ...place.env, HOME: dir, URL: server.url, LOG: join(dir, "log"), TOKEN };
    for (const group of groupsOf(text)) {
      const options = { dir: place.dir, env, input: `${PASSWORD}\n` };
      if (isEndless(group)) await runEndless(group, options);
      else {
        const { code, stdout, stderr } = await runProgram("bash", ["--norc", "-eu", "-c", group], options);
        assert.equal(code, 0, `${group}\n${stdout}${stderr}`);
      }
    }
  }

  for (const block of blocks.filter((one) => one.kind === "commands" && !exceptionOf(one))) {
    test(placeOf(block), () => run(block));
  }
});

/** The command line, which only parses. */
function parser(): Command {
  const still = (command: Command) => {
    command.exitOverride().configureOutput({ writeOut() {}, writeErr() {} });
    command.action(() => {});
    command.commands.forEach(still);
  };
  const program = createProgram();
  still(program);
  return program;
}

/** Why a command cannot be parsed; undefined if it can. */
function faultOf(words: string[], ignored: readonly string[] = []): string | undefined {
  try {
    parser().parse(words, { from: "user" });
  } catch (error) {
    const { code, message } = error as CommanderError;
    if (!ignored.includes(code)) return `${words.join(" ")}: ${message}`;
  }
}

test("each command that the documentation names exists, with its options", () => {
  const inBlocks = blocks.filter(({ kind }) => kind === "commands").flatMap(({ text }) => commandsIn(text));
  // Prose may name a command without what it needs.
  const inProse = PAGES.flatMap(spansOf).flatMap(commandsIn);
  const lacking = ["commander.missingArgument", "commander.missingMandatoryOptionValue"];
  const faults = [...inBlocks.map((words) => faultOf(words)), ...inProse.map((words) => faultOf(words, lacking))];
  assert.deepEqual(
    faults.filter((fault) => fault !== undefined),
    [],
  );
  assert.ok(inBlocks.length > 150 && inProse.length > 80, `${inBlocks.length} and ${inProse.length}`);
});

/** Settings of the files in `deploy`, also those in comments. */
function settingsIn(file: string): Record<string, string> {
  const text = readFileSync(join(DEPLOY, file), "utf8").replace(/\$\{AUTHSERVE_HOST[^}]*\}/g, "auth.example.com");
  const lines = [...text.matchAll(/^[ #]*(?:Environment=)?([A-Z_]+)(?:=|: )(\S+)$/gm)];
  return Object.fromEntries(
    lines.map(([, name = "", value = ""]) => [name, value]).filter(([name = ""]) => isHere(name)),
  );
}

/** PostgreSQL and Redis are elsewhere, as are the addresses and folders of a service. */
const isHere = (name: string) =>
  isSettingName(name) && !/^(DATABASE_|REDIS_|HOST$|PORT$|DATA_DIR$|DEMO_EMAIL$|.*_FILE$)/.test(name);

suite("a server starts with the settings of the documentation", { concurrency: 2 }, () => {
  for (const block of blocks.filter((one) => one.kind === "settings" && !exceptionOf(one))) {
    test(placeOf(block), async () => {
      const dir = workingDir();
      const text = block.text.replace(/\$argon2id\S*…/, PASSWORD_HASH);
      writeFileSync(join(dir, ".env"), text, { mode: 0o600 });
      const own = Array.from(text.matchAll(/^(\w+)=/gm), ([, name = ""]) => [name, undefined]);
      await using server = await startServer({ dir, env: Object.fromEntries(own) });
      assert.equal((await server.stop()).code, 0);
    });
  }

  for (const file of [
    "compose.yaml",
    "compose.postgresql.yaml",
    "compose.traefik.yaml",
    "quadlet/authserve.container",
    "cluster/authserve.conf",
  ]) {
    test(`deploy/${file}`, async () => {
      const env = settingsIn(file);
      assert.ok(Object.keys(env).length >= 3, JSON.stringify(env));
      await using server = await startServer({ env });
      assert.equal((await server.stop()).code, 0);
    });
  }
});

test("each block is run here, or named with what runs it", (t) => {
  const unknown = blocks.filter(({ kind }) => kind === null || kind === "program").filter((one) => !exceptionOf(one));
  assert.deepEqual(unknown.map(placeOf), []);
  const stale = ELSEWHERE.filter(
    ([page, beginning]) => !blocks.some((block) => block.page === page && beginning.test(block.text)),
  );
  assert.deepEqual(stale, []);
  for (const block of blocks)
    t.diagnostic(`${placeOf(block)} ${block.kind ?? "other"}: ${exceptionOf(block) ?? "run"}`);
});
