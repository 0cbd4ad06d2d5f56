import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { endSessionQuery } from "../../src/auth/end-session.ts";
import { Authenticator } from "../helpers/authenticator.ts";
import { ask as get } from "../helpers/client.ts";
import { JWT_SECRET } from "../helpers/credentials.ts";
import { challengeIn, DeviceBrowser, newKey, proofOf } from "../helpers/device.ts";
import { ADA, BEN, PEOPLE, putToken, startWithPeople } from "../helpers/people-server.ts";
import { addTotp } from "../helpers/second-factor.ts";
import type { Server } from "../helpers/server.ts";
import { claimsOf } from "../helpers/sign.ts";
import { totpCode } from "../helpers/totp.ts";

const ORIGIN = "https://auth.example.com";
const APP = "https://app.example.com/callback";
const CLIENTS = `clients:
  photos: { redirects: ["${APP}"], secret: env:APP_SECRET }
`;
const ENV = {
  PUBLIC_URL: ORIGIN,
  TRUSTED_PROXIES: "127.0.0.1",
  ADMIN: "on",
  METRICS_ALLOWED_ADDRESSES: "192.0.2.1",
  APP_SECRET: "the secret of the app, a long one",
};
const start = (t: TestContext) => startWithPeople(t, { yaml: PEOPLE + CLIENTS, env: ENV });

const SCOPES = ["verify", "events:read", "events:write", "events:erase", "manage", "listen", "metrics"];

/** Who asks. */
type Who =
  | { kind: "nobody" }
  | { kind: "session"; isOwner: boolean }
  | { kind: "token"; isOwner: boolean; scope: string };

/**
 * What becomes of a request: it passes the guard, needs a login, belongs to an owner, needs another scope, is hidden,
 * or leads to the page of the account.
 */
type Outcome = "yes" | "login" | "owner" | "scope" | "hidden" | "account";

/** Who passes, by the class of an endpoint. `scope` is the one that it names. */
const RULES: Record<string, (who: Who, scope: string | undefined) => Outcome> = {
  everybody: () => "yes",
  /** Needs what no login gives: a step that was begun, a link, or the secret of an app. */
  "step, link or app": () => "login",
  "any session": ({ kind }) => (kind === "session" ? "yes" : "login"),
  "any session or token": (who, scope) => {
    if (who.kind === "token") return who.scope === scope ? "yes" : "scope";
    return who.kind === "session" ? "yes" : "login";
  },
  owner(who, scope) {
    if (who.kind === "nobody") return "login";
    if (!who.isOwner) return "owner";
    return who.kind === "session" || who.scope === scope ? "yes" : "scope";
  },
  "page of owner": (who) => (who.kind === "session" ? (who.isOwner ? "yes" : "account") : "login"),
  "token of owner": (who, scope) => {
    if (who.kind !== "token") return "hidden";
    if (!who.isOwner) return "owner";
    return who.scope === scope ? "yes" : "scope";
  },
};

/** The class of every endpoint. What a form of `everybody` does is decided by its cookie. */
const CLASSES: [keyof typeof RULES, RegExp][] = [
  ["owner", /^\w+ \/admin\/api\/.+/],
  ["page of owner", /^GET \/admin\/$/],
  ["everybody", /^GET \/admin(?:\/assets\/\{name\})?$/],
  ["token of owner", /^GET \/metrics$/],
  ["any session", /^(?:GET|POST) \/account(?:\/(?:remove|recovery-codes|totp|passkey))?$/],
  ["any session", /^GET \/(?:login\/(?:bound|renew)|logout|docs\/\{path\})?$/],
  ["any session", /^(?:POST \/auth\/logout|GET \/auth\/me|POST \/auth\/bound\/register)$/],
  ["any session or token", /^\* \/auth\/verify(?:\/redirect(?:\/\{path\})?)?$/],
  ["any session", /^(?:GET \/oauth\/authorize|POST \/oauth\/consent)$/],
  ["step, link or app", /^(?:GET|POST) \/oauth\/(?:token|revoke|introspect|userinfo)$/],
  ["step, link or app", /^(?:GET|POST) \/login\/(?:code|end)$/],
  ["any session", /^GET \/oauth\/logout$/],
  ["everybody", /^(?:POST \/oauth\/(?:authorize|logout)|GET \/oauth\/jwks)$/],
  ["everybody", /^GET \/\.well-known\/[\w-]+$/],
  ["everybody", /^POST \/(?:auth\/login(?:\/code)?|auth\/bound\/refresh|logout)$/],
  ["everybody", /^(?:GET|POST) \/login(?:\/passkey)?$/],
  ["everybody", /^(?:GET|POST) \/invite(?:\/passkey)?$/],
  ["everybody", /^POST \/webhook$/],
  ["everybody", /^GET \/(?:docs|healthz|readyz|openapi\.json)$/],
];

const VERIFIER = "v".repeat(43);
const QUERY = new URLSearchParams({
  response_type: "code",
  client_id: "photos",
  redirect_uri: APP,
  scope: "openid",
  code_challenge: hash("sha256", VERIFIER, "base64url"),
  code_challenge_method: "S256",
});

/** The fields or the query of requests that would otherwise be refused for what they are. */
const SENT: Record<string, Record<string, string>> = {
  "GET /oauth/authorize": Object.fromEntries(QUERY),
  "POST /oauth/consent": { request: String(QUERY), answer: "allow" },
  "POST /oauth/token": {},
  "POST /oauth/revoke": {},
  "POST /oauth/introspect": {},
  "POST /oauth/userinfo": {},
  "POST /login/end": {},
  "POST /login/code": { code: "000000" },
};

type Paths = Record<string, Record<string, { security?: Record<string, string[]>[]; "x-every-method"?: true }>>;

interface Declared {
  /** Its method and path. */
  name: string;
  scope: string | undefined;
}

/** Every endpoint of a server. */
async function endpointsOf({ url }: Pick<Server, "url">): Promise<Declared[]> {
  const { json } = await get({ url }, "/openapi.json");
  return Object.entries(json.paths as Paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const { security = [] } = operation;
      const scope = security.flatMap(({ machineToken = [] }) => machineToken)[0];
      const isOfVerify = operation["x-every-method"] && path.startsWith("/auth/verify");
      return isOfVerify ? { name: `* ${path}`, scope: "verify" } : { name: `${method.toUpperCase()} ${path}`, scope };
    }),
  );
}

function classOf(name: string): keyof typeof RULES {
  const found = CLASSES.filter(([, pattern]) => pattern.test(name)).map(([kind]) => kind);
  assert.equal(found.length, 1, `${name} is in ${found.length} classes: say in CLASSES who may use it`);
  return found[0] as keyof typeof RULES;
}

/** Asks without anything that the endpoint could do: a body is no JSON, and a form has no fields. */
function request(browser: DeviceBrowser, name: string, headers: Record<string, string>) {
  const [, method = "", path = ""] = /^(\S+) (.*)$/.exec(name.replace(/^\*/, "GET")) ?? [];
  const target = path.replace("{path}", "index.html").replace(/\{\w+\}/g, "x");
  const fields = SENT[name];
  if (method === "GET") return browser.send(method, `${target}?${new URLSearchParams(fields)}`, headers);
  if (fields !== undefined) return browser.submit(target, fields, headers);
  const json = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
  return browser.send(method, target, { ...json, ...headers }, "{");
}

function outcomeOf({ status, headers, json }: Awaited<ReturnType<typeof request>>): Outcome {
  const { location = "" } = headers;
  if (status === 401 || /^\/login(?:\?|$)/.test(location)) return "login";
  if (location === "/account") return "account";
  if (json.code === "owner_only") return "owner";
  if (json.code === "insufficient_scope") return "scope";
  return status === 404 && json.instance === undefined && json.code === "not_found" ? "hidden" : "yes";
}

interface Asker {
  who: Who;
  browser: DeviceBrowser;
  headers: Record<string, string>;
}

/** Everybody who may ask: with the session or a token of an owner, or of somebody else, or with nothing. */
async function askersOf(server: Server): Promise<Asker[]> {
  const withSession = async (isOwner: boolean, credentials: typeof ADA): Promise<Asker> => {
    const browser = new DeviceBrowser(server);
    await browser.logIn("/", credentials);
    return { who: { kind: "session", isOwner }, browser, headers: {} };
  };
  const withToken = async (isOwner: boolean, scope: string): Promise<Asker> => {
    const token = await putToken(server, `${isOwner ? "" : "ben/"}${scope.replace(":", "-")}`, [scope]);
    const who: Who = { kind: "token", isOwner, scope };
    return { who, browser: new DeviceBrowser(server), headers: { authorization: `Bearer ${token}` } };
  };
  return [
    { who: { kind: "nobody" }, browser: new DeviceBrowser(server), headers: {} },
    await withSession(true, ADA),
    await withSession(false, BEN),
    ...(await Promise.all(SCOPES.map((scope) => withToken(true, scope)))),
    ...(await Promise.all(SCOPES.map((scope) => withToken(false, scope)))),
  ];
}

/** What becomes of the request of somebody, who keeps the cookies of before. */
async function ask({ browser, headers }: Asker, name: string): Promise<Outcome> {
  const kept = [...browser.cookies];
  const outcome = outcomeOf(await request(browser, name, headers));
  browser.cookies.clear();
  for (const [cookie, value] of kept) browser.cookies.set(cookie, value);
  return outcome;
}

suite("people and endpoints", () => {
  test("each endpoint lets everybody do what is theirs, and only an owner the rest", async (t) => {
    const server = await start(t);
    const askers = await askersOf(server);
    const rows: string[] = [];
    const wrong: string[] = [];
    for (const { name, scope } of await endpointsOf(server)) {
      const kind = classOf(name);
      const outcomes: [Who, Outcome][] = [];
      for (const asker of askers) {
        const { who } = asker;
        const expected = RULES[kind]?.(who, scope) ?? "yes";
        const outcome = await ask(asker, name);
        // What is not there is not found by those who may look.
        const found = outcome === "hidden" && expected === "yes" ? "yes" : outcome;
        outcomes.push([who, found]);
        if (found !== expected) wrong.push(`${name} as ${JSON.stringify(who)}: ${found}, expected ${expected}`);
      }
      rows.push(rowOf(name, kind, outcomes));
    }
    t.diagnostic([HEAD, ...rows].join("\n"));
    assert.deepEqual(wrong, []);
  });

  test("an endpoint that is in no class is found", () => {
    assert.throws(() => classOf("GET /account/new"), /GET \/account\/new is in 0 classes/);
  });
});

const HEAD = "endpoint | class | nobody | ada, owner | ben | ada's token | ben's token\n---|---|---|---|---|---|---";

/** A row of the table of endpoints and people. */
function rowOf(name: string, kind: string, outcomes: [Who, Outcome][]): string {
  const [nobody, ada, ben] = outcomes.filter(([who]) => who.kind !== "token").map(([, outcome]) => outcome);
  const ofTokens = (isOwner: boolean) => {
    const own = outcomes.flatMap(([who, outcome]) =>
      who.kind === "token" && who.isOwner === isOwner ? [{ ...who, outcome }] : [],
    );
    const passing = own.filter(({ outcome }) => outcome === "yes").map(({ scope }) => scope);
    if (passing.length === own.length) return "yes";
    return passing.join(" ") || [...new Set(own.map(({ outcome }) => outcome))].join(" ");
  };
  return [name, kind, nobody, ada, ben, ofTokens(true), ofTokens(false)].join(" | ");
}

const HOME = { "x-forwarded-for": "198.51.100.7" };
const ELSEWHERE = { "x-forwarded-for": "203.0.113.9" };

const sidOf = (browser: DeviceBrowser) => String(claimsOf(browser.cookies.get("__Host-authserve") ?? "").sid);

/** Lets an app take part in the session of a browser. */
async function logInToApp(browser: DeviceBrowser): Promise<void> {
  const { headers } = await browser.submit("/oauth/consent", { request: String(QUERY), answer: "allow" });
  const code = new URL(String(headers.location)).searchParams.get("code") ?? "";
  const sent = { grant_type: "authorization_code", code, redirect_uri: APP, code_verifier: VERIFIER };
  const client = { client_id: "photos", client_secret: ENV.APP_SECRET };
  const { status, text } = await new DeviceBrowser(browser.server).submit("/oauth/token", { ...sent, ...client });
  assert.equal(status, 200, text);
}

/** Lets ada and ben log in, ada with an authenticator app from then on, a token and an app. */
async function startWithBoth(t: TestContext) {
  const server = await start(t);
  const [ada, ben] = [new DeviceBrowser(server), new DeviceBrowser(server)];
  await ada.submit("/login", ADA, { ...HOME, "user-agent": "Adas-Browser/1" });
  await ben.submit("/login", BEN, ELSEWHERE);
  await logInToApp(ada);
  const totp = await addTotp(server, "--name", "ada's phone");
  await putToken(server, "adas-backup", ["verify"]);
  const isUnharmed = async () => {
    assert.equal((await ada.open("/")).status, 200, "ada's session lives");
    const { factors, recoveryCodesLeft } = JSON.parse((await server.run(["factors", "list", "--json"])).stdout);
    assert.deepEqual([factors.length, recoveryCodesLeft], [1, 10]);
  };
  return { server, ada, ben, totp, isUnharmed };
}

suite("a person who is no owner", () => {
  test("sees nothing of another on the page of the account", async (t) => {
    const { ada, ben, totp } = await startWithBoth(t);
    const seen = /s phone|adas-backup|198\.51\.100|Adas-Browser|owner@example\.com|photos/;
    const [hers, his] = [await ada.open("/account"), await ben.open("/account")];
    for (const text of ["phone", "adas-backup", "198.51.100", "Adas-Browser", "photos"])
      assert.ok(hers.text.includes(text), text);
    assert.doesNotMatch(his.text, seen);
    assert.ok(!his.text.includes(totp.id));
    assert.match(his.text, /203\.0\.113/);
  });

  test("removes no factor and makes no recovery codes of another", async (t) => {
    const { ben, totp, isUnharmed } = await startWithBoth(t);
    assert.equal((await ben.submit("/account/remove", { id: totp.id })).status, 303);
    assert.equal((await ben.submit("/account/recovery-codes", {})).status, 303);
    await isUnharmed();
  });

  test("ends no session of another: by a logout, by the link of an alert, or by the API", async (t) => {
    const { server, ada, ben, isUnharmed } = await startWithBoth(t);
    const sid = sidOf(ada);
    const own = new URLSearchParams(endSessionQuery(JWT_SECRET, sidOf(ben))).get("key") ?? "";
    assert.equal((await ben.submit("/login/end", { sid, key: own })).headers.location, "/login");
    assert.equal((await ben.send("POST", "/admin/api/session/revoke", {}, "{}")).json.code, "owner_only");
    const cookies = [...ben.cookies];
    for (const end of [
      () => ben.submit("/logout", {}),
      () => ben.send("POST", "/auth/logout", { "sec-fetch-site": "same-origin" }),
      () => ben.submit("/login/end", { sid: sidOf(ben), key: own }),
    ]) {
      ben.cookies.clear();
      await ben.submit("/login", BEN, ELSEWHERE);
      assert.ok((await end()).status < 400);
      await isUnharmed();
    }
    ben.cookies.clear();
    for (const [name, value] of cookies) ben.cookies.set(name, value);
    assert.equal((await ben.open("/")).headers.location, "/login");
    assert.equal(server.log("session_ended").length, 2);
  });

  test("finishes no login of another, with the cookie of its first step", async (t) => {
    const { server, ada, ben, totp, isUnharmed } = await startWithBoth(t);
    const secret = /name="secret" value="([A-Z2-7]+)"/.exec((await ben.open("/account/totp")).text)?.[1] ?? "";
    await ben.submit("/account/totp", { secret, code: totpCode(secret), name: "ben's phone" });
    const [hers, his] = [new DeviceBrowser(server), new DeviceBrowser(server)];
    await hers.submit("/login", ADA);
    await his.submit("/login", BEN);
    const step = "__Host-authserve-step";
    const thief = new DeviceBrowser(server);
    const code = totpCode(secret, Date.now() + 30_000);
    thief.cookies.set(step, String(hers.cookies.get(step)));
    assert.equal((await thief.submit("/login/code", { code })).status, 401, "ben's code is none of ada's");
    thief.cookies.set(step, `${hers.cookies.get(step)}; ${step}=${his.cookies.get(step)}`);
    assert.equal((await thief.submit("/login/code", { code })).status, 401);
    await isUnharmed();
    assert.equal((await his.submit("/login/code", { code: totp.codes[0] ?? "" })).status, 401, "ada's recovery code");
    assert.equal((await his.submit("/login/code", { code })).status, 303);
    assert.equal((await his.send("GET", "/auth/me")).json.userId, "ben");
    assert.equal((await ada.send("GET", "/auth/me")).json.userId, "1");
    await isUnharmed();
  });

  test("adds no passkey with a challenge of another, and logs in with none of another", async (t) => {
    const { server, ada, ben, isUnharmed } = await startWithBoth(t);
    const challenge = "__Host-authserve-challenge";
    const options = (await ada.send("GET", "/account/passkey")).json as Parameters<Authenticator["create"]>[0];
    ben.cookies.set(challenge, String(ada.cookies.get(challenge)));
    const key = new Authenticator();
    const answer = key.create(options, ORIGIN);
    assert.equal((await ben.submit("/account/passkey", { answer })).status, 400);
    await isUnharmed();
    const own = (await ben.send("GET", "/account/passkey")).json as Parameters<Authenticator["create"]>[0];
    assert.notEqual(own.user.id, options.user.id);
    assert.equal((await ben.submit("/account/passkey", { answer: key.create(own, ORIGIN) })).status, 200);
    const visitor = new DeviceBrowser(server);
    const login = async (userHandle: string) => {
      const asked = (await visitor.send("GET", "/login/passkey")).json as Parameters<Authenticator["get"]>[0];
      return visitor.submit("/login/passkey", { answer: key.get(asked, ORIGIN, { userHandle }) });
    };
    assert.match(String((await login(options.user.id)).headers.location), /passkey-refused/);
    assert.equal((await login(own.user.id)).headers.location, "/");
    assert.equal((await visitor.send("GET", "/auth/me")).json.userId, "ben");
    await isUnharmed();
  });

  test("proves no device of another, and registers none for another's session", async (t) => {
    const server = await start(t);
    const [ada, ben] = [new DeviceBrowser(server), new DeviceBrowser(server)];
    await ada.logInBound();
    await ben.logIn("/", BEN);
    const asked = await ben.refresh(undefined, ada.sid);
    const key = await newKey();
    const signed = await proofOf(key, { jti: challengeIn(asked) });
    assert.equal((await ben.refresh(signed, ada.sid)).status, 403);
    const offered = ada.offered as string;
    assert.equal((await ben.register(await proofOf(key, { jti: offered }, key.jwk))).status, 403);
    await ada.prove();
    assert.equal((await ada.open("/")).status, 200);
  });

  test("has no token for a command with --server, and an owner has", async (t) => {
    const server = await start(t);
    const run = (token: string) => {
      writeFileSync(join(server.dir, "token"), token);
      return server.run(["events", "list", "--json", "--server", server.url, "--token-file", "token"]);
    };
    const refused = await run(await putToken(server, "ben/ci", ["events:read"]));
    assert.deepEqual([refused.code, refused.stdout], [1, ""]);
    assert.match(refused.stderr, /owner/);
    assert.equal((await run(await putToken(server, "ci", ["events:read"]))).code, 0);
  });
});
