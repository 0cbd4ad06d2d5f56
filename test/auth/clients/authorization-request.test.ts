import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  type AuthorizationRequest,
  explainAuthorization,
  type JudgedAuthorization,
  judgeAuthorization,
  readAuthorization,
} from "../../../src/auth/clients/authorization-request.ts";
import { clientWith } from "../../helpers/clients.ts";

const CALLBACK = "https://grafana.example.com/login/generic_oauth";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const GRAFANA = clientWith();
const PHONE = clientWith({
  name: "phone",
  secret: null,
  redirects: ["app.immich:///oauth-callback", "http://[::1]/cb"],
});
const CLIENTS = [GRAFANA, PHONE];

type Changes = Record<string, string | null>;
const PLAIN = { client_id: "grafana", redirect_uri: CALLBACK, response_type: "code", scope: "openid", state: "s&1" };
const OF_PHONE = {
  client_id: "phone",
  redirect_uri: "app.immich:///oauth-callback",
  code_challenge: CHALLENGE,
  code_challenge_method: "S256",
};

/** The plain request with other parameters, and without those that are null. */
function written(changes: Changes): string {
  const entries = Object.entries({ ...PLAIN, ...changes } as Changes).filter(([, value]) => value !== null);
  return new URLSearchParams(entries as [string, string][]).toString();
}

const judgeText = (text: string): JudgedAuthorization => judgeAuthorization(readAuthorization(text), CLIENTS);
const judge = (changes: Changes) => judgeText(written(changes));

function accepted(changes: Changes): AuthorizationRequest {
  const judged = judge(changes);
  assert.ok(judged.to === "ok", JSON.stringify(judged));
  return judged.request;
}

suite("an authorization request is accepted", () => {
  test("with no more than what is needed", () =>
    assert.deepEqual(accepted({ state: null }), {
      client: GRAFANA,
      redirectUri: CALLBACK,
      scope: "openid",
      state: null,
      nonce: null,
      challenge: null,
      prompt: new Set(),
      maxAgeSeconds: null,
      loginHint: null,
      idTokenHint: null,
    }));

  test("with all that is known", () =>
    assert.deepEqual(
      accepted({
        ...OF_PHONE,
        response_mode: "query",
        scope: "groups email openid address phone profile offline_access openid",
        nonce: "n 1",
        prompt: "login consent",
        max_age: "10000",
        login_hint: "ada@example.com",
        id_token_hint: "e30.e30.",
      }),
      {
        client: PHONE,
        redirectUri: "app.immich:///oauth-callback",
        scope: "openid profile email groups offline_access",
        state: "s&1",
        nonce: "n 1",
        challenge: CHALLENGE,
        prompt: new Set(["login", "consent"]),
        maxAgeSeconds: 10_000,
        loginHint: "ada@example.com",
        idTokenHint: "e30.e30.",
      },
    ));

  for (const [what, changes] of [
    ["with parameters that are not known", { extra: "foobar", display: "popup", ui_locales: "se", acr_values: "1 2" }],
    ["with claims, which it does not have to understand", { claims: '{"userinfo":{"name":{"essential":true}}}' }],
    ["with PKCE of a client with a secret", { code_challenge: CHALLENGE, code_challenge_method: "S256" }],
    ["with any port of a loopback address", { ...OF_PHONE, redirect_uri: "http://[::1]:51004/cb" }],
    ["with max_age 0", { max_age: "0" }],
    ["with prompt none", { prompt: "none" }],
    ["with empty parameters, which count as missing", { prompt: "", max_age: "", response_mode: "", request: "" }],
    ["with blanks around scopes", { scope: " email  openid " }],
  ] as const)
    test(what, () => void accepted(changes));

  test("whether it comes as a query or as a body", () => {
    const text = written({});
    assert.deepEqual(judgeText(text), judgeText(text.replaceAll("%3A", ":").replaceAll("%2F", "/")));
  });
});

suite("an authorization request is answered here, and leads nowhere", () => {
  for (const [what, text, check, reason] of [
    ["without a client", written({ client_id: null }), "client_id", /^client_id is missing: expected/],
    ["with an unknown client", written({ client_id: "Grafana" }), "client_id", /^client_id is "Grafana": /],
    ["with a name that every object has", written({ client_id: "constructor" }), "client_id", /configuration file/],
    ["with two clients", `${written({})}&client_id=phone`, "client_id", /more than once/],
    ["without a redirect URI", written({ redirect_uri: null }), "redirect_uri", /^redirect_uri is missing/],
    ["with an empty redirect URI", written({ redirect_uri: "" }), "redirect_uri", /is missing/],
    ["with another redirect URI", written({ redirect_uri: `${CALLBACK}/` }), "redirect_uri", /generic_oauth\/": /],
    ["with two redirect URIs", `${written({})}&redirect_uri=https://evil.test/`, "redirect_uri", /more than once/],
    [
      "with a redirect URI that cannot be decoded",
      `${written({ redirect_uri: null })}&redirect_uri=%ff`,
      "redirect_uri",
      /decoded/,
    ],
    ["with the redirect URI of another client", written({ client_id: "phone" }), "redirect_uri", /redirects/],
    [
      "with a redirect URI in a request object only",
      written({ redirect_uri: null, request: "x" }),
      "redirect_uri",
      /missing/,
    ],
    ["that is too large", `${written({})}&x=${"x".repeat(20_000)}`, "size", /too large/],
  ] as const)
    test(what, () => {
      const judged = judgeText(text);
      assert.ok(judged.to === "refuse-here", JSON.stringify(judged));
      assert.equal(judged.check, check);
      assert.match(judged.reason, reason);
    });

  test("with a reason that is safe to print, and short", () => {
    const judged = judge({ redirect_uri: `https://evil.test/\u202e${"x".repeat(3000)}` });
    assert.ok(judged.to === "refuse-here");
    assert.match(judged.reason, /\\u\{202e\}/);
    assert.ok(judged.reason.length < 500);
  });

  test("with a reason that does not name other clients and addresses", () => {
    for (const changes of [{ client_id: "grafan" }, { redirect_uri: "https://evil.test/" }]) {
      const judged = judge(changes);
      assert.ok(judged.to === "refuse-here");
      assert.doesNotMatch(judged.reason, /grafana|phone|generic_oauth/);
    }
  });
});

suite("an authorization request is led back to the app", () => {
  for (const [what, changes, error, check] of [
    ["without a response type", { response_type: null }, "invalid_request", "response_type"],
    ["for the implicit flow", { response_type: "id_token" }, "unsupported_response_type", "response_type"],
    ["for a token", { response_type: "token" }, "unsupported_response_type", "response_type"],
    ["for the hybrid flow", { response_type: "code id_token" }, "unsupported_response_type", "response_type"],
    ["for no token", { response_type: "none" }, "unsupported_response_type", "response_type"],
    ["for code in another case", { response_type: "Code" }, "unsupported_response_type", "response_type"],
    ["with form_post", { response_mode: "form_post" }, "invalid_request", "response_mode"],
    ["with fragment", { response_mode: "fragment" }, "invalid_request", "response_mode"],
    ["without a scope", { scope: null }, "invalid_scope", "scope"],
    ["without the scope openid", { scope: "profile OpenID openid2" }, "invalid_scope", "scope"],
    ["with scopes that no blank separates", { scope: "openid,email" }, "invalid_scope", "scope"],
    ["with a request object", { request: "eyJhbGciOiJub25lIn0.e30." }, "request_not_supported", "request_object"],
    ["with a request_uri", { request_uri: "https://evil.test/r" }, "request_uri_not_supported", "request_object"],
    ["with a registration", { registration: "{}" }, "registration_not_supported", "request_object"],
    [
      "of a public client without PKCE",
      { ...OF_PHONE, code_challenge: null, code_challenge_method: null },
      "invalid_request",
      "pkce",
    ],
    ["of a public client with a method only", { ...OF_PHONE, code_challenge: null }, "invalid_request", "pkce"],
    ["of a public client with plain", { ...OF_PHONE, code_challenge_method: "plain" }, "invalid_request", "pkce"],
    ["with a challenge that is plain by default", { code_challenge: CHALLENGE }, "invalid_request", "pkce"],
    ["with a method in another case", { ...OF_PHONE, code_challenge_method: "s256" }, "invalid_request", "pkce"],
    ["with a short challenge", { ...OF_PHONE, code_challenge: CHALLENGE.slice(1) }, "invalid_request", "pkce"],
    ["with a padded challenge", { ...OF_PHONE, code_challenge: `${CHALLENGE}=` }, "invalid_request", "pkce"],
    [
      "with a challenge in base64",
      { ...OF_PHONE, code_challenge: CHALLENGE.replace("-", "+") },
      "invalid_request",
      "pkce",
    ],
    ["with prompt none and another", { prompt: "none login" }, "invalid_request", "prompt"],
    ["with an unknown prompt", { prompt: "create" }, "invalid_request", "prompt"],
    ["with a negative max_age", { max_age: "-1" }, "invalid_request", "max_age"],
    ["with a max_age that is no integer", { max_age: "1.5" }, "invalid_request", "max_age"],
    ["with a max_age in hexadecimal", { max_age: "0x10" }, "invalid_request", "max_age"],
    ["with an endless max_age", { max_age: "9".repeat(400) }, "invalid_request", "max_age"],
  ] as const)
    test(what, () => {
      const judged = judge(changes);
      assert.ok(judged.to === "redirect-error", JSON.stringify(judged));
      const redirectUri = (changes as Changes).redirect_uri ?? CALLBACK;
      assert.deepEqual(
        [judged.redirectUri, judged.state, judged.error, judged.check],
        [redirectUri, "s&1", error, check],
      );
      // RFC 6749, 4.1.2.1.
      assert.match(judged.description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    });

  for (const name of ["response_type", "scope", "nonce", "code_challenge", "prompt", "max_age", "login_hint"])
    test(`with ${name} twice`, () => {
      const judged = judgeText(`${written({ [name]: "code" })}&${name}=code`);
      assert.ok(judged.to === "redirect-error", JSON.stringify(judged));
      assert.deepEqual([judged.check, judged.error, judged.state], ["parameters", "invalid_request", "s&1"]);
      assert.match(judged.description, new RegExp(`^${name} is there more than once`));
    });

  test("without a state that came twice", () => {
    const judged = judgeText(`${written({})}&state=other`);
    assert.ok(judged.to === "redirect-error");
    assert.deepEqual([judged.check, judged.state], ["parameters", null]);
  });
});

suite("the explanation of an authorization request", () => {
  const explain = (changes: Changes) => explainAuthorization(readAuthorization(written(changes)), CLIENTS);
  const failed = (changes: Changes) => explain(changes).filter(({ ok }) => !ok);
  const detail = (changes: Changes) => failed(changes)[0]?.detail;

  test("lists every check of a request that is accepted", () => {
    const checks = explain(OF_PHONE);
    assert.deepEqual(
      checks.map(({ check }) => check),
      [
        "client_id",
        "redirect_uri",
        "parameters",
        "request_object",
        "response_type",
        "response_mode",
        "scope",
        "pkce",
        "prompt",
        "max_age",
      ],
    );
    assert.ok(checks.every(({ ok }) => ok));
  });

  test("stops at a client that is unknown, and names the nearest one", () => {
    const checks = explain({ client_id: "grafan" });
    assert.deepEqual(
      checks.map(({ check, ok }) => [check, ok]),
      [["client_id", false]],
    );
    assert.match(checks[0]?.detail ?? "", /^client_id is "grafan": expected .*; did you mean grafana\?$/);
  });

  test("names the known clients if none is near", () =>
    assert.match(detail({ client_id: "x" }) ?? "", /; known: grafana, phone$/));

  test("names the nearest redirect, and in what it differs", () =>
    assert.match(
      detail({ redirect_uri: `${CALLBACK}/` }) ?? "",
      /; the nearest is "https:\/\/grafana.example.com\/login\/generic_oauth", which differs in: a slash at the end$/,
    ));

  test("goes on after a failed check", () =>
    assert.deepEqual(
      failed({ redirect_uri: "https://evil.test/", scope: "email", prompt: "none login" }).map(({ check }) => check),
      ["redirect_uri", "scope", "prompt"],
    ));

  test("fails with the same check as the request itself", () => {
    for (const changes of [{ response_type: "token" }, { client_id: "x" }, { max_age: "x", scope: "" }] as Changes[]) {
      const judged = judge(changes);
      assert.ok(judged.to !== "ok");
      assert.equal(failed(changes)[0]?.check, judged.check);
    }
  });
});
