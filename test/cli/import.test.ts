import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { pathsOf } from "../../src/cli/import/paths.ts";
import { parseYaml } from "../../src/config/file/yaml-document.ts";
import { authserve } from "../helpers/command.ts";
import { PASSWORD_HASH } from "../helpers/credentials.ts";
import { blocksOf } from "../helpers/documented-blocks.ts";
import { workingDir } from "../helpers/working-dir.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/imports");
const BCRYPT = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

type Entry = Record<string, unknown>;

/** Runs the command on a text. What it writes must pass `config check` with its `.env`. */
async function imported(product: string, text: string, beside: Record<string, string> = {}) {
  const dir = workingDir();
  writeFileSync(join(dir, "given"), text);
  for (const [name, content] of Object.entries(beside)) writeFileSync(join(dir, name), content);
  const { code, stderr } = await authserve(["import", product, "given", "--out", "out"], { dir });
  assert.equal(code, 0, stderr);
  const env = readFileSync(join(dir, "out/.env"), "utf8");
  const config = readIfThere(join(dir, "out/authserve.yaml"));
  if (config !== "") {
    mkdirSync(join(dir, "check"));
    writeFileSync(join(dir, "check/authserve.yaml"), config);
    writeFileSync(join(dir, "check/.env"), env.replace(/^# (HOOK_\w+)=.*$/gm, "$1='a secret that was made for $1'"));
    const check = await authserve(["config", "check"], { dir: join(dir, "check") });
    assert.equal(check.code, 0, check.stderr);
  }
  const value = (parseYaml(config).value ?? {}) as {
    sources?: Record<string, Entry>;
    routes?: Entry[];
    access?: Entry[];
  };
  const { sources = {}, routes = [], access = [] } = value;
  return { sources: plain(sources), routes: plain(routes), access: plain(access), env, stderr };
}

const plain = <T>(value: T) => JSON.parse(JSON.stringify(value)) as T;

function readIfThere(file: string): string {
  return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, "utf8") : "";
}

const fixture = (name: string) => readFileSync(join(FIXTURES, name), "utf8");

suite("authserve import adnanh-webhook", async () => {
  const { sources, routes, env, stderr } = await imported("adnanh-webhook", fixture("hooks.yaml"));
  const route = (name: string) => routes.find((one) => one.name === name) ?? {};

  test("a signature becomes a preset, or verify, at the path of the hook", () => {
    assert.deepEqual(sources.deploy, {
      path: "/hooks/deploy",
      preset: "github",
      secrets: ["env:HOOK_DEPLOY_SECRET"],
      answer: { status: 200, body: "started" },
    });
    assert.deepEqual(sources.odd?.verify, { header: "x-signature", algorithm: "sha1" });
    assert.match(env, /^HOOK_DEPLOY_SECRET='a secret that GitHub knows'$/m);
  });

  test("a compared value that is a credential becomes the proof, and others become conditions", () => {
    assert.deepEqual(sources.pipeline, {
      path: "/hooks/pipeline",
      preset: "gitlab",
      secrets: ["env:HOOK_PIPELINE_SECRET"],
      allowedAddresses: ["192.0.2.0/24", "198.51.100.7"],
    });
    assert.deepEqual(route("pipeline").when, { "project.id": ["42", 42] });
    assert.deepEqual(route("deploy").when, {
      any: [{ ref: "refs/heads/main" }, { ref: { startsWith: "refs/tags/v" } }],
      deleted: { not: ["true", true] },
    });
  });

  test("a hook without a secret gets a line that the user completes", () => {
    assert.deepEqual(sources.open?.verify, { type: "token", path: true });
    assert.match(env, /^# HOOK_OPEN_SECRET=/m);
    assert.match(stderr, /^hook open: has no secret/m);
  });

  test("values in the URL are read of GET", () => {
    assert.deepEqual(sources["tools-build"]?.methods, ["GET"]);
    assert.equal(sources["tools-build"]?.path, "/hooks/Tools/build");
  });

  test("a command runs once, without the time-out that hooks lack", () => {
    assert.deepEqual(route("pipeline").exec, { command: ["/usr/local/bin/pipeline"], timeout: "1h" });
    assert.deepEqual(route("pipeline").retry, { attempts: 1 });
  });

  test("what cannot be carried over is named, and no route runs for more events", () => {
    assert.deepEqual(Object.keys(sources), ["deploy", "pipeline", "tools-build", "open", "odd"]);
    assert.deepEqual(route("odd"), {});
    assert.match(stderr, /^hook odd: regex on version: write when of a route$/m);
    assert.match(stderr, /^hook odd: has a source and no route/m);
    assert.match(stderr, /^hook made: has a template/m);
    assert.match(stderr, /^hook pipeline: include-command-output-in-response: /m);
    assert.doesNotMatch(stderr, /a secret|a token/);
  });

  test("an unescaped dot below not, and several lists of addresses, are not carried over", async () => {
    const regex = (regex: string) => ({
      match: { type: "regex", regex, parameter: { source: "payload", name: "ref" } },
    });
    const addresses = (range: string) => ({ match: { type: "ip-whitelist", "ip-range": range } });
    const rules = {
      dot: { not: regex("^refs.heads.main$") },
      nested: { not: { or: [regex("^refs.heads"), regex("^refs/tags")] } },
      escaped: { not: regex("^v1\\.0$") },
      positive: regex("^refs.heads.main$"),
      addresses: { and: [addresses("192.0.2.0/24"), addresses("192.0.2.7")] },
    };
    const hooks = Object.entries(rules).map(([id, rule]) => ({ id, "execute-command": "/x", "trigger-rule": rule }));
    const { sources, routes, stderr } = await imported("adnanh-webhook", JSON.stringify(hooks));
    assert.deepEqual(
      routes.map(({ name, when }) => [name, when]),
      [
        ["escaped", { ref: { not: "v1.0" } }],
        ["positive", { ref: "refs.heads.main" }],
      ],
    );
    assert.equal(sources.addresses, undefined);
    assert.match(stderr, /^hook addresses: ip-whitelist: write allowedAddresses of the source$/m);
  });
});

suite("authserve import tinyauth", async () => {
  const text = fixture("tinyauth.yaml").replaceAll("HASH", () => BCRYPT.replaceAll("$", "$$$$"));
  const { access, env, stderr } = await imported("tinyauth", text);

  test("the first user keeps the password, and others are named", () => {
    assert.match(env, /^PUBLIC_URL='https:\/\/login\.example\.com'\nCOOKIE_DOMAIN='example\.com'$/m);
    assert.match(env, /^DEMO_EMAIL='ana@example\.com'$/m);
    assert.ok(env.includes(`DEMO_PASSWORD='${BCRYPT}'`));
    assert.match(env, /^JWT_TTL='7200s'\nSESSION_MAX_AGE='7200s'$/m);
    assert.match(stderr, /^TINYAUTH_AUTH_USERS: ana: logs in as ana@example\.com$/m);
    assert.match(stderr, /TINYAUTH_AUTH_USERS: bob.*: authserve has one user$/m);
  });

  test("labels become entries of access, in the order in which Tinyauth asks", () => {
    const films = { host: "films.example.com", allow: "everyone" };
    const photos = { host: "photos.example.com" };
    assert.deepEqual(access, [
      { ...films, networks: ["192.168.0.0/16"] },
      ...["/ping/**", "/feed/**", "/api/**"].map((path) => ({ ...films, path })),
      { ...photos, networks: ["10.0.0.0/8"], allow: ["session", "token"] },
      { ...photos, allow: "nobody" },
    ]);
  });

  test("variables, other logins and paths that would open more are named", () => {
    assert.match(stderr, /^TINYAUTH_AUTH_TRUSTEDPROXIES: its value is not in this file/m);
    assert.match(stderr, /^TINYAUTH_OAUTH_PROVIDERS_GITHUB_CLIENTID: there is no login at another provider/m);
    assert.match(stderr, /^path\.block of photos: all paths need a login/m);
    assert.match(env, /^# TRUSTED_PROXIES=/m);
  });

  test("names of version 3 and a file of users are known", async () => {
    const old = "APP_URL=https://auth.example.com\nUSERS_FILE=users\nSESSION_EXPIRY=3600 # an hour\nSECRET=x\n";
    const { env } = await imported("tinyauth", old, { users: `Eva@example.net:${PASSWORD_HASH}\n` });
    assert.match(env, /^DEMO_EMAIL='Eva@example\.net'$/m);
    assert.ok(env.includes(PASSWORD_HASH));
    assert.match(env, /^JWT_TTL='3600s'$/m);
  });

  test("a large file of users, or one that never ends, is not read", async () => {
    const pipe = join(workingDir(), "users");
    execFileSync("mkfifo", [pipe]);
    const large = `eva@example.net:${PASSWORD_HASH}\n${"\n".repeat(1024 * 1024)}`;
    for (const file of [pipe, "users"]) {
      const text = `APP_URL=https://auth.example.com\nUSERS_FILE=${file}\n`;
      const { env, stderr } = await imported("tinyauth", text, { users: large });
      assert.doesNotMatch(env, /eva@/);
      assert.match(stderr, /^USERS_FILE \(line 2\): put the hash of the one user into DEMO_PASSWORD$/m);
    }
  });
});

suite("authserve import traefik-forward-auth", async () => {
  const { access, env, stderr } = await imported("traefik-forward-auth", fixture("forward-auth.ini"));

  test("rules become entries of access, first those that ask for a login", () => {
    assert.deepEqual(access, [
      { host: "stats.example.com", path: "/api/public/*", allow: ["session", "token"] },
      { host: "stats.example.com", path: "/api/public/**", allow: "everyone" },
      { host: "status.example.com", path: "/api/public/**", allow: "everyone" },
      { path: "/feed", query: { key: "a=b" }, allow: "everyone" },
      { methods: ["OPTIONS"], allow: "everyone" },
    ]);
    assert.match(stderr, /^rule key: write entries of access for it$/m);
    assert.doesNotMatch(stderr, /a key that is secret/);
  });

  test("address, cookie, user and lifetime become settings", () => {
    assert.match(env, /^PUBLIC_URL='https:\/\/auth\.example\.com'\nCOOKIE_DOMAIN='example\.com'$/m);
    assert.match(env, /^DEMO_EMAIL='ana@example\.com'\nJWT_TTL='86400s'\nSESSION_MAX_AGE='86400s'\nPROXY='traefik'$/m);
    assert.match(stderr, /^whitelist \(line 5\): bob@example\.com: authserve has one user$/m);
  });

  test("nothing is open if a rule that asks for a login cannot be told", async () => {
    const rules =
      "auth-host=auth.example.com\ndefault-action=allow\nrule.a.action=auth\nrule.a.rule=PathPrefix(`/admin`)\n";
    const { access, stderr } = await imported("traefik-forward-auth", rules);
    assert.deepEqual(access, []);
    assert.match(stderr, /^what is open: write first the entries that ask for a login$/m);
  });

  test("nothing is open if a variable hides a rule", async () => {
    const flags = [
      "--default-action=allow",
      "--auth-host=auth.example.com",
      `--rule.admin.rule=PathPrefix(\`\${ADMIN}/\`)`,
    ];
    const auth = { image: "thomseddon/traefik-forward-auth:2", command: flags };
    const { access, stderr } = await imported("traefik-forward-auth", JSON.stringify({ services: { auth } }));
    assert.deepEqual(access, []);
    assert.match(stderr, /^rule\.admin\.rule: its value is not in this file/m);
    assert.match(stderr, /^what is open: /m);
    const named = { ...auth, command: ["--default-action=allow", "--rule.$NAME.rule=PathPrefix(`/admin/`)"] };
    const second = await imported("traefik-forward-auth", JSON.stringify({ services: { auth: named } }));
    assert.deepEqual(second.access, [{ path: "/admin/**", allow: ["session", "token"] }, { allow: "everyone" }]);
  });

  test("two paths that must both match, and a star, open nothing", async () => {
    for (const rule of ["Path(`/health`) && PathPrefix(`/`)", "Path(`/a/*`)", "PathPrefix(`/*/`)"]) {
      const text = `auth-host=auth.example.com\nrule.a.action=allow\nrule.a.rule=${rule}\n`;
      const { access, stderr } = await imported("traefik-forward-auth", text);
      assert.deepEqual(access, [], rule);
      assert.match(stderr, /^rule a: write entries of access for it$/m);
    }
  });

  test("flags and variables of a compose file are read", async () => {
    const compose = `services:
  auth:
    image: thomseddon/traefik-forward-auth:2
    environment: { COOKIE_DOMAIN: example.com, SECRET: "\${KEY}" }
    command: --rule.a.action=allow --rule.a.rule="Method(\`OPTIONS\`)" --whitelist ana@example.com
`;
    const { access, env } = await imported("traefik-forward-auth", compose);
    assert.deepEqual(access, [{ methods: ["OPTIONS"], allow: "everyone" }]);
    assert.match(env, /^DEMO_EMAIL='ana@example\.com'$/m);
  });
});

suite("authserve import oauth2-proxy", async () => {
  const beside = { htpasswd: `ana:${BCRYPT}\n` };
  const { access, env, stderr } = await imported("oauth2-proxy", fixture("oauth2-proxy.cfg"), beside);

  test("routes without a login become entries of access", () => {
    assert.deepEqual(access, [
      { networks: ["192.168.0.0/16"], allow: "everyone" },
      { methods: ["OPTIONS"], allow: "everyone" },
      { path: "/probe", methods: ["GET"], allow: "everyone" },
      { path: "/js/**", allow: "everyone" },
      { path: "/css/**", allow: "everyone" },
    ]);
    assert.match(stderr, /skip_auth_routes \(line 15\): POST!=\^\/admin; .*: \\\.png\$: write entries of access/);
  });

  test("address, cookie, user and times become settings", () => {
    assert.match(env, /^PUBLIC_URL='https:\/\/auth\.example\.com'\nCOOKIE_DOMAIN='\.example\.com'$/m);
    assert.match(env, /^REDIRECT_ORIGINS='https:\/\/app\.example\.net:8443'\nJWT_TTL='43230s'$/m);
    assert.match(env, /^DEMO_EMAIL='ana@example\.com'\nDEMO_PASSWORD='\$2b\$10\$/m);
    assert.match(env, /^PORT='4180'$/m);
    assert.match(stderr, /^whitelist_domains \(line 6\): \*\.example\.org: name the origins/m);
    assert.doesNotMatch(stderr, /a secret of the provider/);
  });

  test("the alpha configuration and arguments of Kubernetes are read", async () => {
    const alpha = "server: { bindAddress: 127.0.0.1:4180 }\nupstreamConfig: { upstreams: [] }\nproviders: []\n";
    const first = await imported("oauth2-proxy", alpha);
    assert.match(first.env, /^PORT='4180'$/m);
    assert.match(first.stderr, /^upstreamConfig: authserve passes nothing on/m);
    const container =
      '{ image: quay.io/oauth2-proxy/oauth2-proxy, args: ["--skip-auth-route=^/a", --cookie-expire=1h] }';
    const { access, env } = await imported("oauth2-proxy", `a: 1\n---\nspec: { containers: [${container}] }\n`);
    assert.deepEqual(access, [{ path: "/a/**", allow: "everyone" }]);
    assert.match(env, /^JWT_TTL='3600s'$/m);
  });
});

test("import prints both files in marked parts, and never replaces one", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "cfg"), 'trusted_ips = ["10.0.0.0/8"]\n');
  const { code, stdout } = await authserve(["import", "oauth2-proxy", "cfg"], { dir });
  assert.equal(code, 0);
  assert.match(stdout, /^# ---- authserve\.yaml ----\naccess:\n[^#]*\n# ---- \.env ----\n# JWT_SECRET=/);
  const args = ["import", "oauth2-proxy", "cfg", "--out", "."];
  assert.equal((await authserve(args, { dir })).code, 0);
  assert.equal(statSync(join(dir, ".env")).mode & 0o777, 0o600);
  const again = await authserve(args, { dir });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /authserve\.yaml exists/);
});

test("import refuses what it cannot read", async () => {
  const dir = workingDir();
  const refused = async (text: string, message: RegExp, product = "tinyauth") => {
    writeFileSync(join(dir, "given"), text);
    const { code, stdout, stderr } = await authserve(["import", product, "given"], { dir });
    assert.notEqual(code, 0);
    assert.equal(stdout, "");
    assert.match(stderr, message);
  };
  await refused("A=b\n", /A \(line 1\): has no counterpart.*\n.*has nothing for authserve/);
  await refused("a: {{ b }}\n", /Line 1 of the file is no YAML.*\n.*its template makes/);
  await refused("a: 1\n---\nb: [\n", /Line 4 of the file/);
  await refused(" ".repeat(1024 * 1024 + 1), /more than 1 MiB/);
  await refused("[".repeat(200_000), /nested too deeply|no YAML/, "adnanh-webhook");
  assert.equal((await authserve(["import", "tinyauth", "missing"], { dir })).code, 2);
});

test("a regular expression becomes paths that match no more than it does", () => {
  const cases: Record<string, string[] | null> = {
    "^/health$": ["/health"],
    "^/health/?$": ["/health", "/health/"],
    "^/static/": ["/static/**"],
    "^/static(/.*)?$": ["/static/**"],
    "^/v1/[^/]+/hook$": ["/v1/*/hook"],
    "/public": ["/public/**"],
    "^/a\\.txt$|^/b$": ["/a.txt", "/b"],
    "^/(a|b)/(c|d)$": ["/b/d", "/b/c", "/a/d", "/a/c"],
    "^/.*": ["/**"],
    ".*": ["/**"],
    "^/[0-9]+$": null,
    "\\.css$": null,
    "^/a/../b": null,
    "^/(a|(b|c)+)$": null,
    "^/*$": null,
    "^/*/[^/]+$": null,
    "": ["/**"],
  };
  for (const [pattern, paths] of Object.entries(cases)) assert.deepEqual(pathsOf(pattern), paths, pattern);
  assert.equal(pathsOf(`^/${"(a|b)".repeat(10)}$`), null);
});

suite("docs/coming-from.md shows what the command writes", () => {
  const blocks = blocksOf("docs/coming-from.md");
  const blockWith = (beginning: string) => blocks.find(({ text }) => text.startsWith(beginning))?.text ?? "";

  test("of hooks", async () => {
    const before = blockWith("[{").replace('"…"', '"a secret that GitHub knows"');
    const { sources, routes } = await imported("adnanh-webhook", before);
    assert.deepEqual({ sources, routes }, plain(parseYaml(blockWith("sources:")).value));
  });

  test("of Tinyauth", async () => {
    const before = blockWith("services:").replace("$$2a$$10$$…", () => BCRYPT.split("$").join("$$"));
    const { access, env } = await imported("tinyauth", before);
    assert.deepEqual({ access }, plain(parseYaml(blockWith("access:")).value));
    const written = blockWith("PUBLIC_URL=").split("\n").slice(0, 3);
    assert.deepEqual(env.replaceAll("'", "").split("\n").slice(0, 3), written);
  });
});
