import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, suite, type TestContext, test } from "node:test";
import { createRemoteJWKSet, decodeProtectedHeader, generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { ask } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { userAgent } from "../helpers/user-agent.ts";
import { workingDir } from "../helpers/working-dir.ts";

// The modules of the conformance suite of the OpenID Foundation that certify a provider, as of August 2026:
// https://gitlab.com/openid/conformance-suite. Each plan is `OIDCC…TestPlan.java` there.
const BASIC = [
  "oidcc-server",
  "oidcc-response-type-missing",
  "oidcc-idtoken-signature",
  "oidcc-idtoken-unsigned",
  "oidcc-userinfo-get",
  "oidcc-userinfo-post-header",
  "oidcc-userinfo-post-body",
  "oidcc-ensure-request-without-nonce-succeeds-for-code-flow",
  "oidcc-scope-profile",
  "oidcc-scope-email",
  "oidcc-scope-address",
  "oidcc-scope-phone",
  "oidcc-scope-all",
  "oidcc-alternate-happy-flow",
  "oidcc-display-page",
  "oidcc-display-popup",
  "oidcc-prompt-login",
  "oidcc-prompt-none-not-logged-in",
  "oidcc-prompt-none-logged-in",
  "oidcc-max-age-1",
  "oidcc-max-age-10000",
  "oidcc-ensure-request-with-unknown-parameter-succeeds",
  "oidcc-id-token-hint",
  "oidcc-login-hint",
  "oidcc-ui-locales",
  "oidcc-claims-locales",
  "oidcc-ensure-request-with-acr-values-succeeds",
  "oidcc-codereuse",
  "oidcc-codereuse-30seconds",
  "oidcc-ensure-registered-redirect-uri",
  "oidcc-ensure-post-request-succeeds",
  "oidcc-server-client-secret-post",
  "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
  "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
  "oidcc-claims-essential",
  "oidcc-ensure-request-object-with-redirect-uri",
  "oidcc-refresh-token",
  "oidcc-ensure-request-with-valid-pkce-succeeds",
] as const;
const RP_INITIATED_LOGOUT = [
  "oidcc-rp-initiated-logout-discovery-endpoint-verification",
  "oidcc-rp-initiated-logout",
  "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri",
  "oidcc-rp-initiated-logout-modified-id-token-hint",
  "oidcc-rp-initiated-logout-no-id-token-hint",
  "oidcc-rp-initiated-logout-no-params",
  "oidcc-rp-initiated-logout-no-post-logout-redirect-uri",
  "oidcc-rp-initiated-logout-no-state",
  "oidcc-rp-initiated-logout-only-state",
  "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri",
  "oidcc-rp-initiated-logout-bad-id-token-hint",
] as const;
const BACK_CHANNEL_LOGOUT = [
  "oidcc-backchannel-logout-discovery-endpoint-verification",
  "oidcc-backchannel-rp-initiated-logout",
] as const;

type Module = (typeof BASIC | typeof RP_INITIATED_LOGOUT | typeof BACK_CHANNEL_LOGOUT)[number];

const SECRET = "the-secret-of-the-app-a-long-one";
const FIELDS = { email: EMAIL, password: PASSWORD };
const CALLBACK = "http://127.0.0.1:9/callback";
const AFTER = "http://127.0.0.1:9/after";

/** The bodies that the app's back-channel address got. */
const told: URLSearchParams[] = [];
const app = createServer((request, response) => {
  void text(request).then((body) => {
    told.push(new URLSearchParams(body));
    response.writeHead(200).end();
  });
}).listen(0, "127.0.0.1");
await new Promise((resolve) => app.once("listening", resolve));
after(() => app.close());

const dir = workingDir();
const CLIENT = `redirects: ["${CALLBACK}"], secret: env:APP_SECRET, consent: never`;
writeFileSync(
  join(dir, "authserve.yaml"),
  `clients:
  app: { ${CLIENT}, claims: { idToken: false }, logout: { backchannel: "http://127.0.0.1:${(app.address() as AddressInfo).port}", after: ["${AFTER}"] } }
  other: { ${CLIENT} }
`,
);
const server = await startServer({ dir, env: { APP_SECRET: SECRET } });
after(() => server[Symbol.asyncDispose]());

type Metadata = Record<string, string> & Record<`${string}_supported`, readonly string[] | boolean>;
const metadata = (await ask(server, "/.well-known/openid-configuration")).json as Metadata;
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri as string));

type Browser = ReturnType<typeof userAgent>;
type Parameters = Record<string, string>;

const USUAL = { client_id: "app", redirect_uri: CALLBACK, response_type: "code", scope: "openid" };

/** The address of a request to log in, with parameters besides the usual ones. Those that are empty are left out. */
function requestUrl(more: Parameters): string {
  const all = { ...USUAL, state: "the state", nonce: "the nonce", ...more };
  const sent = Object.entries(all).filter(([, value]) => value !== "");
  return `${metadata.authorization_endpoint}?${new URLSearchParams(sent)}`;
}

/** What leads a browser back to the app. Whoever is asked to log in does so. */
async function answerTo(more: Parameters, browser: Browser = userAgent()): Promise<URLSearchParams> {
  const { url } = await browser.go(requestUrl(more), FIELDS, CALLBACK);
  assert.ok(url.startsWith(CALLBACK), url);
  const { searchParams } = new URL(url);
  assert.deepEqual([searchParams.get("state"), searchParams.get("iss")], [more.state ?? "the state", metadata.issuer]);
  return searchParams;
}

const BASIC_AUTH = { authorization: `Basic ${btoa(`app:${SECRET}`)}` };

const fetchTokens = (body: Parameters, headers: Parameters = BASIC_AUTH) =>
  ask(server, "/oauth/token", { method: "POST", body: new URLSearchParams(body), headers });

const exchange = (code: string | null) =>
  ({ grant_type: "authorization_code", redirect_uri: CALLBACK, code: String(code) }) as const;

/** The claims of an ID token, all of whose parts are right. */
async function claimsOf(idToken: unknown, nonce?: string): Promise<JWTPayload> {
  const checks = { issuer: metadata.issuer as string, audience: "app", requiredClaims: ["sub", "iat", "exp"] };
  const { payload } = await jwtVerify(String(idToken), keys, checks);
  assert.equal(payload.nonce, nonce);
  return payload;
}

interface Login {
  browser: Browser;
  claims: JWTPayload;
  idToken: string;
  accessToken: string;
  refreshToken: string;
}

/** Logs in by a request with these parameters, and takes the tokens. */
async function logIn(more: Parameters = {}, browser: Browser = userAgent(), verifier: Parameters = {}): Promise<Login> {
  const code = (await answerTo(more, browser)).get("code");
  const { status, json } = await fetchTokens({ ...exchange(code), ...verifier });
  assert.equal(status, 200);
  const nonce = more.nonce === "" ? undefined : "the nonce";
  const [idToken, accessToken, refreshToken] = [json.id_token, json.access_token, json.refresh_token].map(String);
  return { browser, claims: await claimsOf(idToken, nonce), idToken, accessToken, refreshToken } as Login;
}

const logsInWith = (more: Parameters) => async () => void (await logIn(more));

const userInfo = (init: RequestInit) => ask(server, "/oauth/userinfo", init);
const bearer = ({ accessToken }: Login) => ({ Authorization: `Bearer ${accessToken}` });

/** Logs in with a scope, and returns what the app gets to know. */
async function userWith(scope: string): Promise<Record<string, unknown>> {
  const login = await logIn({ scope });
  const { json } = await userInfo({ headers: bearer(login) });
  assert.equal(json.sub, login.claims.sub);
  return json;
}

/** The suite skips what the metadata does not offer. */
function offers(list: `${string}_supported`, name: string): boolean {
  const offered = metadata[list];
  assert.ok(Array.isArray(offered));
  return offered.includes(name);
}

const refusesPage = async (more: Parameters) => {
  const { status, headers } = await ask(server, requestUrl(more).slice(server.url.length), { redirect: "manual" });
  assert.deepEqual([status, headers.get("location")], [400, null]);
};

/** Whether the login of a browser is live. */
async function isLive(browser: Browser): Promise<boolean> {
  const answer = await answerTo({ prompt: "none" }, browser);
  assert.ok(answer.has("code") || answer.get("error") === "login_required");
  return answer.has("code");
}

/** Logs in, and sends the browser to the end of the session. Returns where it is led. */
async function logOut(parametersOf: (login: Login) => Parameters | Promise<Parameters>) {
  const login = await logIn();
  const query = new URLSearchParams(await parametersOf(login));
  const { headers } = await login.browser.request(`${metadata.end_session_endpoint}?${query}`);
  return { ...login, led: String(headers.get("location")) };
}

const whole = ({ idToken }: Login) => ({ id_token_hint: idToken, post_logout_redirect_uri: AFTER, state: "so" });

/** A logout that leads to the app, and where exactly. */
const leadsTo = (parametersOf: (login: Login) => Parameters, place: string) => async () => {
  const { browser, led } = await logOut(parametersOf);
  assert.equal(led, place);
  assert.equal(await isLive(browser), false);
};

/** A logout that leads nowhere else: to the login page if it is done, or to the page with the button. */
const staysHere = (parametersOf: (login: Login) => Parameters | Promise<Parameters>, isAsked: boolean) => async () => {
  const { browser, led } = await logOut(parametersOf);
  assert.equal(led, isAsked ? "/logout" : "/login");
  assert.equal(await isLive(browser), isAsked);
  if (!isAsked) return;
  await browser.go(`${server.url}/logout`, {}, `${server.url}/login`);
  assert.equal(await isLive(browser), false);
};

const asksAgain = (more: Parameters) => async () => {
  const { browser, claims: first } = await logIn();
  await until(() => Date.now() >= (Number(first.auth_time) + 2) * 1000);
  const { claims: second } = await logIn(more, browser);
  assert.equal(second.sub, first.sub);
  assert.ok(Number(second.auth_time) > Number(first.auth_time));
};

const asksNotAgain = (more: (login: Login) => Parameters) => async () => {
  const first = await logIn({ max_age: "15000" });
  const { claims } = await logIn(more(first), first.browser);
  assert.deepEqual([claims.sub, claims.auth_time], [first.claims.sub, first.claims.auth_time]);
};

const refusesRequest = (name: string, error: string) => async () =>
  assert.equal((await answerTo({ [name]: "e30.e30." })).get("error"), error);

/** What is checked here, a test elsewhere, or why there is nothing to check. */
type Check = (() => Promise<void>) | { file: string; title: string } | { because: string; holds(): boolean };

const MODULES: Record<Module, Check> = {
  async "oidcc-server"() {
    const code = (await answerTo({})).get("code");
    const { status, headers, json } = await fetchTokens(exchange(code));
    assert.deepEqual([status, headers.get("cache-control"), json.token_type], [200, "no-store", "Bearer"]);
    assert.match(String(headers.get("content-type")), /^application\/json/);
    assert.ok(Number(json.expires_in) > 0);
    for (const secret of [code, json.access_token]) assert.match(String(secret), /^[\w-]{43}$/);
    const { sub } = await claimsOf(json.id_token, "the nonce");
    const user = await userInfo({ headers: { Authorization: `Bearer ${json.access_token}` } });
    assert.deepEqual([user.status, user.json.sub], [200, sub]);
    const published = (await ask(server, "/oauth/jwks")).json.keys as Record<string, string>[];
    assert.equal(new Set(published.map(({ kid }) => kid)).size, published.length);
    for (const key of published) assert.ok(key.kid && key.use === "sig" && !("d" in key));
  },
  async "oidcc-response-type-missing"() {
    assert.equal((await answerTo({ response_type: "" })).get("error"), "invalid_request");
  },
  async "oidcc-idtoken-signature"() {
    const { alg, kid } = decodeProtectedHeader((await logIn()).idToken);
    assert.deepEqual([alg, typeof kid], ["RS256", "string"]);
  },
  "oidcc-idtoken-unsigned": {
    because: "tokens without signature are not offered",
    holds: () => !offers("id_token_signing_alg_values_supported", "none"),
  },
  async "oidcc-userinfo-get"() {
    assert.equal((await userInfo({ headers: bearer(await logIn()) })).json.sub, "1");
  },
  async "oidcc-userinfo-post-header"() {
    assert.equal((await userInfo({ method: "POST", headers: bearer(await logIn()) })).json.sub, "1");
  },
  async "oidcc-userinfo-post-body"() {
    const body = new URLSearchParams({ access_token: (await logIn()).accessToken });
    assert.equal((await userInfo({ method: "POST", body })).json.sub, "1");
  },
  "oidcc-ensure-request-without-nonce-succeeds-for-code-flow": logsInWith({ nonce: "" }),
  async "oidcc-scope-profile"() {
    const { name, preferred_username } = await userWith("openid profile");
    assert.deepEqual([name, preferred_username], Array(2).fill(EMAIL.split("@")[0]));
  },
  async "oidcc-scope-email"() {
    const { email, email_verified } = await userWith("openid email");
    assert.deepEqual([email, email_verified], [EMAIL, true]);
  },
  "oidcc-scope-address": {
    because: "the scope is not offered",
    holds: () => !offers("scopes_supported", "address"),
  },
  "oidcc-scope-phone": {
    because: "the scope is not offered",
    holds: () => !offers("scopes_supported", "phone"),
  },
  "oidcc-scope-all": {
    because: "two of the scopes are not offered",
    holds: () => !offers("scopes_supported", "address"),
  },
  async "oidcc-alternate-happy-flow"() {
    const reversed = new URLSearchParams([...new URL(requestUrl({ scope: "email openid" })).searchParams].reverse());
    const { url } = await userAgent().go(`${metadata.authorization_endpoint}?${reversed}`, FIELDS, CALLBACK);
    const { json } = await fetchTokens(exchange(new URL(url).searchParams.get("code")));
    const headers = { Authorization: `Bearer ${json.access_token}` };
    assert.equal((await userInfo({ headers })).json.email, EMAIL);
  },
  "oidcc-display-page": logsInWith({ display: "page" }),
  "oidcc-display-popup": logsInWith({ display: "popup" }),
  "oidcc-prompt-login": asksAgain({ prompt: "login" }),
  async "oidcc-prompt-none-not-logged-in"() {
    assert.equal((await answerTo({ prompt: "none" })).get("error"), "login_required");
  },
  "oidcc-prompt-none-logged-in": asksNotAgain(() => ({ prompt: "none" })),
  "oidcc-max-age-1": asksAgain({ max_age: "1" }),
  "oidcc-max-age-10000": asksNotAgain(() => ({ max_age: "10000" })),
  "oidcc-ensure-request-with-unknown-parameter-succeeds": logsInWith({ extra: "foobar" }),
  "oidcc-id-token-hint": asksNotAgain(({ idToken }) => ({ prompt: "none", id_token_hint: idToken })),
  async "oidcc-login-hint"() {
    const browser = userAgent();
    const login = (await browser.request(requestUrl({ login_hint: "ada&co@example.com" }))).headers.get("location");
    const page = await (await browser.request(new URL(login ?? "", server.url).href)).text();
    assert.match(page, /<input id="email"[^>]* value="ada&amp;co@example\.com"/);
    await logIn({ login_hint: EMAIL });
  },
  "oidcc-ui-locales": logsInWith({ ui_locales: "se" }),
  "oidcc-claims-locales": logsInWith({ claims_locales: "se" }),
  "oidcc-ensure-request-with-acr-values-succeeds": logsInWith({ acr_values: "1 2" }),
  async "oidcc-codereuse"() {
    const body = exchange((await answerTo({})).get("code"));
    assert.equal((await fetchTokens(body)).status, 200);
    const { status, json } = await fetchTokens(body);
    assert.deepEqual([status, json.error], [400, "invalid_grant"]);
  },
  "oidcc-codereuse-30seconds": {
    file: "test/contract/client-store.ts",
    title: "the second use of a code removes the tokens of its family, and no others",
  },
  "oidcc-ensure-registered-redirect-uri": () => refusesPage({ redirect_uri: `${CALLBACK}/other` }),
  async "oidcc-ensure-post-request-succeeds"() {
    const browser = userAgent();
    const body = new URL(requestUrl({})).searchParams;
    const { headers } = await browser.request(String(metadata.authorization_endpoint), { method: "POST", body });
    const { url } = await browser.go(server.url + headers.get("location"), FIELDS, CALLBACK);
    assert.equal((await fetchTokens(exchange(new URL(url).searchParams.get("code")))).status, 200);
  },
  async "oidcc-server-client-secret-post"() {
    const body = exchange((await answerTo({})).get("code"));
    const { json } = await fetchTokens({ ...body, client_id: "app", client_secret: SECRET }, {});
    await claimsOf(json.id_token, "the nonce");
  },
  "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported": refusesRequest(
    "request_uri",
    "request_uri_not_supported",
  ),
  "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported": refusesRequest(
    "request",
    "request_not_supported",
  ),
  "oidcc-claims-essential": logsInWith({ claims: JSON.stringify({ userinfo: { name: { essential: true } } }) }),
  "oidcc-ensure-request-object-with-redirect-uri": () =>
    refusesPage({ request: "e30.e30.", redirect_uri: `${CALLBACK}/other` }),
  async "oidcc-refresh-token"() {
    const { claims, refreshToken } = await logIn({ scope: "openid offline_access", prompt: "consent" });
    const body = { grant_type: "refresh_token", refresh_token: refreshToken };
    const ofOther = await fetchTokens(body, { authorization: `Basic ${btoa(`other:${SECRET}`)}` });
    assert.deepEqual([ofOther.status, ofOther.json.error], [400, "invalid_grant"]);
    const { json } = await fetchTokens(body);
    const next = await claimsOf(json.id_token, "the nonce");
    for (const name of ["iss", "sub", "aud", "auth_time", "sid"]) assert.deepEqual(next[name], claims[name]);
    assert.ok(Number(next.iat) >= Number(claims.iat));
  },
  async "oidcc-ensure-request-with-valid-pkce-succeeds"() {
    // RFC 7636, appendix B.
    const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const verifier = { code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" };
    await logIn({ code_challenge: challenge, code_challenge_method: "S256" }, userAgent(), verifier);
  },

  async "oidcc-rp-initiated-logout-discovery-endpoint-verification"() {
    await using secure = await startServer({
      dir,
      env: { ...server.env, DATA_DIR: workingDir(), PUBLIC_URL: "https://auth.example.com" },
    });
    const { json } = await ask(secure, "/.well-known/openid-configuration");
    const addresses = Object.entries(json).filter(([name]) => /_endpoint$|_uri$/.test(name));
    assert.ok(addresses.some(([name]) => name === "end_session_endpoint"));
    for (const [, address] of addresses) assert.match(String(address), /^https:\/\/auth\.example\.com\//);
  },
  "oidcc-rp-initiated-logout": leadsTo(whole, `${AFTER}?state=so`),
  "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri": staysHere(
    (login) => ({ ...whole(login), post_logout_redirect_uri: `${AFTER}/other` }),
    false,
  ),
  "oidcc-rp-initiated-logout-modified-id-token-hint": staysHere((login) => {
    const [, claims] = login.idToken.split(".");
    const header = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    return { ...whole(login), id_token_hint: `${header}.${claims}.` };
  }, true),
  "oidcc-rp-initiated-logout-no-id-token-hint": staysHere(
    () => ({ post_logout_redirect_uri: AFTER, state: "so" }),
    true,
  ),
  "oidcc-rp-initiated-logout-no-params": staysHere(() => ({}), true),
  "oidcc-rp-initiated-logout-no-post-logout-redirect-uri": staysHere(
    ({ idToken }) => ({ id_token_hint: idToken, state: "so" }),
    false,
  ),
  "oidcc-rp-initiated-logout-no-state": leadsTo(
    ({ idToken }) => ({ id_token_hint: idToken, post_logout_redirect_uri: AFTER }),
    AFTER,
  ),
  "oidcc-rp-initiated-logout-only-state": staysHere(() => ({ state: "so" }), true),
  "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri": staysHere(
    (login) => ({ ...whole(login), post_logout_redirect_uri: `${AFTER}?foo=bar` }),
    false,
  ),
  "oidcc-rp-initiated-logout-bad-id-token-hint": staysHere(async (login) => {
    const { privateKey } = await generateKeyPair("RS256");
    const forged = new SignJWT(login.claims).setProtectedHeader(
      decodeProtectedHeader(login.idToken) as { alg: string },
    );
    return { ...whole(login), id_token_hint: await forged.sign(privateKey) };
  }, true),

  async "oidcc-backchannel-logout-discovery-endpoint-verification"() {
    assert.deepEqual(
      [metadata.backchannel_logout_supported, metadata.backchannel_logout_session_supported],
      [true, true],
    );
  },
  async "oidcc-backchannel-rp-initiated-logout"() {
    const { browser, claims, led } = await logOut(whole);
    assert.equal(led, `${AFTER}?state=so`);
    const checks = { issuer: metadata.issuer as string, audience: "app", requiredClaims: ["iat", "exp", "jti"] };
    const body = await until(async () => {
      for (const one of told) {
        const { payload } = await jwtVerify(String(one.get("logout_token")), keys, checks);
        if (payload.sid === claims.sid) return { payload, names: [...one.keys()] };
      }
      return null;
    });
    const { payload, names } = body;
    assert.deepEqual([names, payload.sub, "nonce" in payload], [["logout_token"], claims.sub, false]);
    assert.deepEqual(payload.events, { "http://schemas.openid.net/event/backchannel-logout": {} });
    assert.equal(await isLive(browser), false);
  },
};

async function run(t: TestContext, check: Check): Promise<void> {
  if (typeof check === "function") return check();
  if ("because" in check) {
    assert.ok(check.holds());
    return t.diagnostic(check.because);
  }
  const source = readFileSync(join(import.meta.dirname, "../..", check.file), "utf8");
  assert.ok(source.includes(`test("${check.title}"`));
  t.diagnostic(`${check.file}: ${check.title}`);
}

for (const [plan, modules] of Object.entries({
  "Basic OP": BASIC,
  "RP-Initiated Logout OP": RP_INITIATED_LOGOUT,
  "Back-Channel Logout OP": BACK_CHANNEL_LOGOUT,
}))
  suite(`what the conformance suite checks for ${plan}`, () => {
    for (const name of modules) test(name, (t) => run(t, MODULES[name]));
  });
