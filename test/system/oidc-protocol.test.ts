import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import * as oauth from "oauth4webapi";
import * as client from "openid-client";
import { ask, logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { userAgent } from "../helpers/user-agent.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "the secret of the app, a long one";
const FIELDS = { email: EMAIL, password: PASSWORD };
const CALLBACK = "http://127.0.0.1:9/callback";

/** What an app's back-channel address got, and what it answers. */
const told: string[] = [];
let status = 503;
const app = createServer((request, response) => {
  void text(request).then((body) => {
    told.push(new URLSearchParams(body).get("logout_token") ?? "");
    response.writeHead(status).end();
  });
}).listen(0, "127.0.0.1");
await new Promise((resolve) => app.once("listening", resolve));
const { port } = app.address() as { port: number };
after(() => app.close());

const dir = workingDir();
writeFileSync(
  join(dir, "authserve.yaml"),
  `clients:
  app: { redirects: ["${CALLBACK}"], secret: env:APP_SECRET, consent: never, logout: { backchannel: "http://127.0.0.1:${port}/bc" } }
  kept: { redirects: ["${CALLBACK}"], secret: env:APP_SECRET, consent: never, offline: keep, algorithm: ES256 }
  spa: { redirects: ["http://127.0.0.1/app"], public: true, consent: once }
`,
);
const server = await startServer({ dir, env: { APP_SECRET: SECRET } });
after(() => server[Symbol.asyncDispose]());

async function configOf(id: string, authentication?: client.ClientAuth): Promise<client.Configuration> {
  const options = { execute: [client.allowInsecureRequests] };
  const metadata = id === "spa" ? undefined : SECRET;
  return client.discovery(new URL(server.url), id, metadata, authentication, options);
}

interface Asked {
  scope?: string;
  more?: Record<string, string>;
  browser?: ReturnType<typeof userAgent>;
  redirectUri?: string;
}

/** Logs in at an app as its user does. Returns what leads back, and what the app keeps for it. */
async function begin(
  config: client.Configuration,
  { scope = "openid", more = {}, browser = userAgent(), redirectUri = CALLBACK }: Asked,
) {
  const verifier = client.randomPKCECodeVerifier();
  const [state, nonce] = [client.randomState(), client.randomNonce()];
  const parameters = {
    redirect_uri: redirectUri,
    scope,
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...more,
  };
  const url = client.buildAuthorizationUrl(config, parameters).href;
  const back = new URL((await browser.go(url, FIELDS, redirectUri)).url);
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  return { back, checks, browser };
}

const INSECURE = { [oauth.allowInsecureRequests]: true };

/** Logs in at `app` with oauth4webapi, whose functions each check one answer. */
async function loginByOauth() {
  const issuer = new URL(server.url);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, INSECURE));
  const [verifier, state, nonce] = [
    oauth.generateRandomCodeVerifier(),
    oauth.generateRandomState(),
    oauth.generateRandomNonce(),
  ];
  const url = new URL(String(as.authorization_endpoint));
  url.search = String(
    new URLSearchParams({
      ...{ client_id: "app", redirect_uri: CALLBACK, response_type: "code", state, nonce, max_age: "300" },
      scope: "openid email offline_access",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    }),
  );
  const back = new URL((await userAgent().go(url.href, FIELDS, CALLBACK)).url);
  const app = { client_id: "app" };
  const secret = oauth.ClientSecretBasic(SECRET);
  const answer = oauth.validateAuthResponse(as, app, back, state);
  const response = await oauth.authorizationCodeGrantRequest(as, app, secret, answer, CALLBACK, verifier, INSECURE);
  const checks = { expectedNonce: nonce, maxAge: 300, requireIdToken: true };
  const tokens = await oauth.processAuthorizationCodeResponse(as, app, response, checks);
  return { as, app, secret, back, state, response, tokens };
}

const payloadOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

suite("OpenID Connect, with oauth4webapi", () => {
  test("every answer passes the checks: metadata, code, tokens, user info, refresh, introspection and revocation", async () => {
    const { as, app, secret, back, state, response, tokens } = await loginByOauth();
    // It has no endpoint for pushed requests (RFC 9126), so none may be demanded.
    assert.equal(as.pushed_authorization_request_endpoint, undefined);
    const withoutIss = new URL(back);
    withoutIss.searchParams.delete("iss");
    assert.throws(() => oauth.validateAuthResponse(as, app, withoutIss, state), { code: oauth.INVALID_RESPONSE });
    await oauth.validateApplicationLevelSignature(as, response, INSECURE);
    assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.sub, "1");

    const asked = await oauth.userInfoRequest(as, app, tokens.access_token, INSECURE);
    assert.equal((await oauth.processUserInfoResponse(as, app, "1", asked)).email, EMAIL);
    const refresh = await oauth.refreshTokenGrantRequest(as, app, secret, String(tokens.refresh_token), INSECURE);
    const { access_token } = await oauth.processRefreshTokenResponse(as, app, refresh);
    const isActive = async () => {
      const told = await oauth.introspectionRequest(as, app, secret, access_token, INSECURE);
      return (await oauth.processIntrospectionResponse(as, app, told)).active;
    };
    assert.equal(await isActive(), true);
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, app, secret, access_token, INSECURE));
    assert.equal(await isActive(), false);
  });
});

suite("OpenID Connect, with openid-client", () => {
  for (const [name, authentication] of [
    ["basic", client.ClientSecretBasic(SECRET)],
    ["post", client.ClientSecretPost(SECRET)],
  ] as const) {
    test(`a login with PKCE and client_secret_${name} gives tokens, and the user's claims`, async () => {
      const config = await configOf("app", authentication);
      const { back, checks } = await begin(config, { scope: "openid profile email groups offline_access unknown" });
      const tokens = await client.authorizationCodeGrant(config, back, checks);
      const claims = tokens.claims();
      assert.deepEqual([claims?.sub, claims?.aud, claims?.email, claims?.email_verified], ["1", "app", EMAIL, true]);
      assert.deepEqual(claims?.amr, ["pwd"]);
      assert.equal(tokens.scope, "openid profile email groups offline_access");
      const user = await client.fetchUserInfo(config, tokens.access_token, "1");
      assert.equal(user.preferred_username, EMAIL.split("@")[0]);
      const introspected = await client.tokenIntrospection(config, tokens.access_token);
      assert.deepEqual([introspected.active, introspected.client_id], [true, "app"]);

      const next = await client.refreshTokenGrant(config, String(tokens.refresh_token));
      assert.notEqual(next.refresh_token, tokens.refresh_token);
      // A second use of a refresh token ends all that came from the code.
      await assert.rejects(client.refreshTokenGrant(config, String(tokens.refresh_token)), { error: "invalid_grant" });
      await assert.rejects(client.refreshTokenGrant(config, String(next.refresh_token)), { error: "invalid_grant" });
      await assert.rejects(client.fetchUserInfo(config, next.access_token, "1"));
    });
  }

  test("a public client logs in at any port of its loopback address, and must use PKCE", async () => {
    const config = await configOf("spa", client.None());
    const redirectUri = "http://127.0.0.1:9/app";
    const { back, checks } = await begin(config, { redirectUri });
    const tokens = await client.authorizationCodeGrant(config, back, checks);
    assert.equal(tokens.claims()?.sub, "1");
    const query = new URLSearchParams({
      client_id: "spa",
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid",
    });
    const plain = await ask(server, `/oauth/authorize?${query}`, { redirect: "manual" });
    const answer = new URL(String(plain.headers.get("location"))).searchParams;
    assert.deepEqual([answer.get("error"), answer.get("iss")], ["invalid_request", server.url]);
  });

  test("the second use of a code ends what the first one got", async () => {
    const config = await configOf("app");
    const { back, checks } = await begin(config, {});
    const tokens = await client.authorizationCodeGrant(config, back, checks);
    await assert.rejects(client.authorizationCodeGrant(config, back, checks), { error: "invalid_grant" });
    await assert.rejects(client.fetchUserInfo(config, tokens.access_token, "1"));
  });

  test("a code is worth nothing with another verifier, address or client, or without the secret", async () => {
    const config = await configOf("app");
    const other = await configOf("kept");
    const { back, checks } = await begin(config, {});
    const wrong = { ...checks, pkceCodeVerifier: client.randomPKCECodeVerifier() };
    await assert.rejects(client.authorizationCodeGrant(config, back, wrong), { error: "invalid_grant" });
    const second = await begin(config, {});
    await assert.rejects(client.authorizationCodeGrant(other, second.back, second.checks), { error: "invalid_grant" });
    const third = await begin(config, {});
    const code = String(third.back.searchParams.get("code"));
    const body = new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      client_id: "app",
    });
    const refused = await ask(server, "/oauth/token", { method: "POST", body });
    assert.deepEqual([refused.status, refused.json.error], [401, "invalid_client"]);
  });

  test("prompt and max_age ask for a new login, or refuse to", async () => {
    const config = await configOf("app");
    const none = await begin(config, { more: { prompt: "none" } });
    assert.equal(none.back.searchParams.get("error"), "login_required");
    const { browser, back, checks } = await begin(config, {});
    const first = (await client.authorizationCodeGrant(config, back, checks)).claims();
    const silent = await begin(config, { browser, more: { prompt: "none" } });
    const same = (await client.authorizationCodeGrant(config, silent.back, silent.checks)).claims();
    assert.deepEqual([same?.auth_time, same?.sid], [first?.auth_time, first?.sid]);
    for (const more of [{ prompt: "login" }, { max_age: "0" }] as Record<string, string>[]) {
      const again = await begin(config, { browser, more });
      const claims = (await client.authorizationCodeGrant(config, again.back, again.checks)).claims();
      assert.notEqual(claims?.sid, first?.sid);
    }
  });

  test("a login elsewhere ends tokens at once, and the app is told until it answers", async () => {
    const [config, kept] = [await configOf("app"), await configOf("kept")];
    const scope = "openid offline_access";
    const { back, checks, browser } = await begin(config, { scope });
    const tokens = await client.authorizationCodeGrant(config, back, checks);
    const second = await begin(kept, { scope, browser });
    const outliving = await client.authorizationCodeGrant(kept, second.back, second.checks);
    told.length = 0;
    await logIn(server);
    await assert.rejects(client.fetchUserInfo(config, tokens.access_token, "1"));
    await assert.rejects(client.refreshTokenGrant(config, String(tokens.refresh_token)), { error: "invalid_grant" });
    // The client with `offline: keep` goes on.
    const renewed = await client.refreshTokenGrant(kept, String(outliving.refresh_token));
    assert.equal((await client.fetchUserInfo(kept, renewed.access_token, "1")).sub, "1");

    const sid = tokens.claims()?.sid;
    const toldOf = () => told.map(payloadOf).find((payload) => payload.sid === sid);
    await until(() => toldOf() !== undefined);
    await server.kill();
    told.length = 0;
    status = 204;
    await using restarted = await startServer({ dir, env: { ...server.env, PORT: String(server.port) } });
    await until(() => toldOf() !== undefined);
    await restarted.logged("logout_delivered");
    const claims = toldOf() as Record<string, unknown>;
    assert.deepEqual([claims.iss, claims.aud, claims.sub], [server.url, "app", "1"]);
    assert.deepEqual(claims.events, { "http://schemas.openid.net/event/backchannel-logout": {} });
    assert.equal(claims.nonce, undefined);
  });
});
