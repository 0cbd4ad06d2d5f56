import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as client from "openid-client";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { userAgent } from "../helpers/user-agent.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "the-secret-of-the-app-a-long-one";
const CALLBACK = "https://app.example/callback";
const OTHER = "https://other.example/callback";
const LOOPBACK = "http://127.0.0.1/app";
const VERIFIER = client.randomPKCECodeVerifier();
const CHALLENGE = await client.calculatePKCECodeChallenge(VERIFIER);
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

const dir = workingDir();
writeFileSync(
  join(dir, "authserve.yaml"),
  `clients:
  app: { redirects: ["${CALLBACK}"], secret: env:APP_SECRET, consent: never }
  other: { redirects: ["${OTHER}"], secret: env:APP_SECRET, consent: never }
  spa: { redirects: ["${LOOPBACK}"], public: true, consent: never }
`,
);
const server = await startServer({ dir, env: { APP_SECRET: SECRET } });
after(() => server[Symbol.asyncDispose]());

const oracle = spawn(process.execPath, [join(import.meta.dirname, "../fixtures/oidc-oracle.mjs")], {
  env: { ...process.env, SECRET },
  stdio: ["ignore", "pipe", "ignore"],
});
after(() => void oracle.kill());
const [oracleUrl] = (await once(oracle.stdout, "data")) as [Buffer];

/** Servers, and the browser of somebody who is logged in there. */
const [ours, theirs] = [server.url, String(oracleUrl)].map((url) => ({ url, browser: userAgent() })) as [Side, Side];
type Side = { url: string; browser: ReturnType<typeof userAgent> };

/** Parameters to change: null leaves one out, and several values repeat it. */
type Changes = Record<string, string | null | readonly string[]>;

function parametersOf(changes: Changes): URLSearchParams {
  const usual = { client_id: "app", redirect_uri: CALLBACK, response_type: "code", state: "s", nonce: "n" };
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries<Changes[string]>({ ...usual, scope: "openid email", ...changes }))
    for (const one of value === null ? [] : [value].flat()) parameters.append(name, one);
  return parameters;
}

async function authorize({ url, browser }: Side, changes: Changes): Promise<URL | null> {
  const response = await browser.request(`${url}/oauth/authorize?${parametersOf(changes)}`);
  await response.text();
  const location = response.headers.get("location");
  return location === null ? null : new URL(location, url);
}

/** The class of an answer to an authorization request: where it leads, and with what. */
async function classOf(side: Side, changes: Changes): Promise<string> {
  const to = await authorize(side, changes);
  if (to === null) return "page";
  if (to.origin === side.url) return "login";
  const { hash, search, host, protocol } = to;
  const answer = new URLSearchParams(hash.slice(1) || search);
  const is = answer.has("code") ? "code" : String(answer.get("error"));
  return `${is} at ${protocol}//${host}${answer.get("iss") === side.url ? "" : " without iss"}`;
}

const codeOf = async (side: Side, changes: Changes = {}) =>
  String((await authorize(side, changes))?.searchParams.get("code"));

const basic = (id: string, secret = SECRET): Record<string, string> => ({
  authorization: `Basic ${btoa(`${id}:${secret}`)}`,
});

async function post({ url }: Side, path: string, body: Record<string, string>, headers: Record<string, string>) {
  const response = await fetch(`${url}/oauth/${path}`, { method: "POST", body: new URLSearchParams(body), headers });
  const text = await response.text();
  const answer = (text.startsWith("{") ? JSON.parse(text) : {}) as Record<string, string | boolean>;
  return { answer, is: `${response.status} ${answer.error ?? "ok"}` };
}

/** Sends a request for tokens of the app. */
const tokens = (side: Side, body: Record<string, string>, headers = basic("app")) => post(side, "token", body, headers);

type Flow = (side: Side) => Promise<unknown>;

/** Exchanges a code of the app, with other parameters or another authentication. */
const swap =
  (more: Record<string, string> = {}, headers = basic("app"), asked: Changes = {}): Flow =>
  async (side) =>
    (await tokens(side, { ...exchange(await codeOf(side, asked)), ...more }, headers)).is;

const exchange = (code: string) => ({ grant_type: "authorization_code", redirect_uri: CALLBACK, code });

const granted = async (side: Side) =>
  (await tokens(side, exchange(await codeOf(side, { scope: "openid email offline_access" })))).answer;

const refresh = (token: unknown) => ({ grant_type: "refresh_token", refresh_token: String(token) });

/** Refreshes the tokens of the app, with other parameters or another authentication. */
const renew =
  (more: Record<string, string> = {}, headers = basic("app")): Flow =>
  async (side) => {
    const { is, answer } = await tokens(side, { ...refresh((await granted(side)).refresh_token), ...more }, headers);
    return [is, String(answer.scope).includes("email")];
  };

const userInfo = async ({ url }: Side, token: unknown) =>
  (await fetch(`${url}/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;

/** What is done with codes and tokens, and the answers. */
const CASES: Record<string, Flow> = {
  "a code of nobody": swap({ code: "nothing" }),
  "no code": swap({ code: "" }),
  "a code with another redirect": swap({ redirect_uri: `${CALLBACK}/` }),
  "a code without redirect": swap({ redirect_uri: "" }),
  "a code of another client": swap({}, basic("other")),
  "a code by a public client": swap({ client_id: "spa" }, {}),
  "another grant": swap({ grant_type: "password" }),
  "a verifier without challenge": swap({ code_verifier: VERIFIER }),
  "a wrong secret": swap({}, basic("app", "wrong")),
  "an unknown client": swap({}, basic("nobody")),
  "no authentication": swap({}, {}),
  "an empty secret": swap({ client_id: "app", client_secret: "" }, {}),
  "the secret in the body": swap({ client_id: "app", client_secret: SECRET }, {}),
  "the secret twice": swap({ client_id: "app", client_secret: SECRET }),
  "another id in the body": swap({ client_id: "other" }),
  "a secret of a public client": swap({ client_id: "spa", client_secret: SECRET }, {}),
  "Bearer instead of Basic": swap({}, { authorization: `Bearer ${SECRET}` }),
  "malformed Basic": swap({}, { authorization: "Basic !" }),
  "a refresh by another client": renew({}, basic("other")),
  "a refresh for less": renew({ scope: "openid" }),
  "a refresh for more": renew({ scope: "openid profile" }),
  "no refresh token": renew({ refresh_token: "" }),
  async "a token as another"(side) {
    const { access_token: access, refresh_token: next, id_token: id } = await granted(side);
    const users = [await userInfo(side, access), await userInfo(side, next), await userInfo(side, id)];
    return [...users, (await tokens(side, refresh(access))).is, (await tokens(side, refresh(id))).is];
  },
  async "a code twice"(side) {
    const body = exchange(await codeOf(side));
    const [first, second] = [await tokens(side, body), await tokens(side, body)];
    return [first.is, second.is, await userInfo(side, first.answer.access_token)];
  },
  async "a refresh twice"(side) {
    const { refresh_token: first } = await granted(side);
    const next = await tokens(side, refresh(first));
    const again = await tokens(side, refresh(first));
    const last = await tokens(side, refresh(next.answer.refresh_token));
    return [next.is, again.is, last.is, await userInfo(side, next.answer.access_token)];
  },
  async "a token of another client"(side) {
    const { access_token: token } = await granted(side);
    await post(side, "revoke", { token: String(token) }, basic("other"));
    const { answer } = await post(side, "introspect", { token: String(token) }, basic("other"));
    return [answer.active, await userInfo(side, token)];
  },
  async "a revoked token"(side) {
    const { access_token: token } = await granted(side);
    return [(await post(side, "revoke", { token: String(token) }, basic("app"))).is, await userInfo(side, token)];
  },
};

/** Adds authorization requests in which a parameter has other values. */
function vary(name: string, values: Changes[string][], more: Changes = {}): void {
  for (const value of values)
    CASES[`${name} ${JSON.stringify(value)}`] = (side) => classOf(side, { ...more, [name]: value });
}
vary("client_id", ["other"]);
for (const [name, value] of parametersOf({})) vary(name, [null, "", "evil", [value, value], `${value}\0`]);
vary("redirect_uri", [
  ...[OTHER, "https://app.example/Callback", "https://APP.example/callback", "HTTPS://app.example/callback"],
  ...[`${CALLBACK}/`, `${CALLBACK}?a=b`, `${CALLBACK}#a`, `${CALLBACK}%00`, ` ${CALLBACK}`, `${CALLBACK}\r\na: b`],
  ...["https://app.example:443/callback", "https://app.example:444/callback", "http://app.example/callback"],
  ...["https://a@app.example/callback", "https://app.example/%63allback", "https://app.example/a/../callback"],
  ...["https://app.example.evil/callback", "https://evil\\@app.example/callback", "//app.example/callback"],
  ...["javascript:alert(1)", "data:text/html,a", "/callback", "https://app.example", "app.example:/callback"],
]);
const LOOPBACKS = [
  ...[LOOPBACK, "http://127.0.0.1:9/app", "http://127.0.0.1:65535/app", "http://127.0.0.1:65536/app"],
  ...["http://localhost:9/app", "http://[::1]:9/app", "http://127.1:9/app", "https://127.0.0.1:9/app"],
  ...["http://127.0.0.1:9/app/", "http://127.0.0.1:9/app?a=b", "http://127.0.0.1:9@evil.example/app"],
  ...["http://127.0.0.1:09/app", "http://127.0.0.1.evil.example/app"],
];
vary("redirect_uri", LOOPBACKS, { client_id: "spa", ...PKCE });
vary("code_challenge_method", [null, "", "plain", "S512"], { client_id: "spa", redirect_uri: LOOPBACK, ...PKCE });
vary("code_challenge", [CHALLENGE, null, "", "short", [CHALLENGE, CHALLENGE]], PKCE);
vary("code_challenge", [null, CHALLENGE]);
vary("prompt", ["none", "login", "consent", "select_account", "none login", "create", "login consent"]);
vary("max_age", ["0", "1000", "-1", "1.5", "a", "99999999999999999999"]);
vary("response_mode", ["query", "fragment", "form_post"]);
vary("response_type", ["token", "id_token", "none"]);
for (const name of ["request", "request_uri", "registration", "claims", "resource", "id_token_hint"])
  vary(name, ["e30.e30."]);

const VERIFIERS = { right: VERIFIER, wrong: "a".repeat(43), "the challenge as": CHALLENGE, short: "a", no: "" };
for (const [name, verifier] of Object.entries(VERIFIERS))
  CASES[`${name} verifier`] = swap({ code_verifier: verifier }, basic("app"), PKCE);

const AT = " at https://app.example";
const [INVALID, CODE] = [`invalid_request${AT}`, `code${AT}`];
const [TYPE, SCOPE] = [`unsupported_response_type${AT}`, `invalid_scope${AT}`];
const [NO_CLIENT, NO_REQUEST, NO_GRANT] = ["401 invalid_client", "400 invalid_request", "400 invalid_grant"];

/** What is meant to differ: why, our answer, the other one, and in which cases. */
const MEANT: [why: string, ours: unknown, theirs: unknown, ...cases: string[]][] = [
  ["No parameter has a use for control characters.", INVALID, CODE, 'state "s\\u0000"', 'nonce "n\\u0000"'],
  ["The same, before the meaning is looked at.", INVALID, TYPE, 'response_type "code\\u0000"'],
  ["The same, before the meaning is looked at.", INVALID, SCOPE, 'scope "openid email\\u0000"'],
  ["The specification leaves it open.", SCOPE, INVALID, "scope null", 'scope ""', 'scope "evil"'],
  ["A port is written in one way.", "page", `code at http://127.0.0.1:9`, 'redirect_uri "http://127.0.0.1:09/app"'],
  ["The metadata offers the query only.", INVALID, CODE, 'response_mode "fragment"'],
  ["The metadata offers the query only.", INVALID, "page", 'response_mode "form_post"'],
  ["RFC 6749 has an error for it.", TYPE, INVALID, 'response_type "id_token"', 'response_type "none"'],
  ["Both ask.", "page", "login", 'prompt "consent"'],
  ["There is one account, and a login chooses it.", "login", INVALID, 'prompt "select_account"'],
  ["Apps send it to providers that ignore it.", CODE, `invalid_target${AT}`, 'resource "e30.e30."'],
  ["It is unknown who is meant, so a login tells.", "login", INVALID, 'id_token_hint "e30.e30."'],
  ["RFC 6749, 5.2 has this error for it.", NO_CLIENT, NO_REQUEST, "no authentication"],
  ["The same.", NO_CLIENT, NO_REQUEST, "Bearer instead of Basic", "malformed Basic"],
  ["It does not match (RFC 7636, 4.6).", NO_GRANT, NO_REQUEST, "short verifier", "a code without redirect"],
  ["A client is told of its own tokens.", [false, 200], [true, 200], "a token of another client"],
];

suite("the same requests to this server and to one made with oidc-provider", () => {
  before(async () => {
    const body = new URLSearchParams({ email: EMAIL, password: PASSWORD });
    await ours.browser.request(`${ours.url}/login`, { method: "POST", body });
    const fields = { login: "1", password: "any" };
    // The app that this leads to does not exist.
    await assert.rejects(theirs.browser.go(`${theirs.url}/oauth/authorize?${parametersOf({})}`, fields));
    for (const side of [ours, theirs]) assert.equal(await classOf(side, {}), CODE);
  });

  test("are answered alike, except where it is meant", async () => {
    const found: Record<string, unknown[]> = {};
    for (const [name, ask] of Object.entries(CASES)) {
      const answers = [await ask(ours), await ask(theirs)];
      if (!isDeepStrictEqual(answers[0], answers[1])) found[name] = answers;
    }
    const meant = MEANT.flatMap(([, a, b, ...names]) => names.map((name) => [name, [a, b]]));
    assert.deepEqual(found, Object.fromEntries(meant));
  });
});
