import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import * as v from "valibot";
import { newToken } from "../../src/auth/machine-tokens/form.ts";
import * as tokens from "../../src/operations/tokens.ts";
import { startAdmin } from "../contract/admin-api.ts";
import { ask, assertProblem, logIn, logOut, me, post } from "../helpers/client.ts";
import { EMAIL } from "../helpers/credentials.ts";
import { request } from "../helpers/raw-http.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** Creates a token by the command. */
async function create(server: Server, name: string, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await server.run(["tokens", "create", name, ...options]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^ask_[0-9A-Za-z]{36}\n$/);
  assert.ok(!stderr.includes(stdout.trim()));
  return stdout.trim();
}

function configFile(text: string): string {
  const file = join(workingDir(), "authserve.yaml");
  writeFileSync(file, text);
  return file;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const get = (server: Server, path: string, token: string, headers: Record<string, string> = {}) =>
  ask(server, path, { headers: { ...bearer(token), ...headers } });
const names = (headers: Headers) => ["remote-user", "remote-email", "remote-token"].map((name) => headers.get(name));

suite("a token of a program", () => {
  test("is no session: it neither has, ends nor renews one, and a login does not end it", async (t) => {
    const { server } = await startAdmin(t);
    const token = await create(server, "ci", "--scope", "verify", "events:read", "events:write", "metrics", "listen");
    const session = await logIn(server);
    assertProblem(await me(server, token), 401, "invalid_token", "Unauthorized");
    assertProblem(await logOut(server, token), 401, "invalid_token", "Unauthorized");
    assertProblem(await post(server, "/admin/api/session/revoke", {}, bearer(token)), 403, "insufficient_scope");
    assert.equal((await me(server, session)).status, 200);
    await logIn(server);
    assert.equal((await get(server, "/auth/verify", token)).status, 200);
    await server.run(["session", "revoke"]);
    assert.equal((await get(server, "/auth/verify", token)).status, 200);
    const shown = JSON.parse((await server.run(["session", "show", "--json"])).stdout);
    assert.equal(shown.active, false);
  });

  test("passes forward-auth with its name, and with the cookie of a browser beside it", async (t) => {
    const { server, headers } = await startAdmin(t);
    const token = await create(server, "backup", "--scope", "verify");
    assert.deepEqual(names((await get(server, "/auth/verify", token)).headers), ["1", EMAIL, "backup"]);
    assert.deepEqual(names((await ask(server, "/auth/verify", { headers })).headers), ["1", EMAIL, ""]);
    const cookie = { Cookie: `authserve=${headers.Authorization.slice("Bearer ".length)}` };
    assert.deepEqual(names((await get(server, "/auth/verify", token, cookie)).headers), ["1", EMAIL, "backup"]);
    const refused = await get(server, "/auth/verify", newToken(), cookie);
    assertProblem(refused, 401, "invalid_token");
    assert.deepEqual(names(refused.headers), ["", "", ""]);
  });

  test("that is wrong is refused, also when a page is opened with it", async (t) => {
    const { server } = await startAdmin(t);
    for (const headers of [{}, { Accept: "text/html", "Sec-Fetch-Mode": "navigate" }]) {
      const answer = await get(server, "/auth/verify", newToken(), headers);
      assertProblem(answer, 401, "invalid_token");
      assert.equal(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"');
      assert.equal(answer.headers.get("location"), null);
    }
  });

  test("for one host passes there only", async (t) => {
    const server = await startServer({
      env: { PUBLIC_URL: "https://auth.example.com", TRUSTED_PROXIES: "127.0.0.1" },
    });
    t.after(() => server[Symbol.asyncDispose]());
    const token = await create(server, "dav", "--scope", "verify:dav.example.com");
    const at = (url: string) => get(server, "/auth/verify", token, { "X-Original-URL": url });
    for (const url of ["https://dav.example.com/x", "https://DAV.example.com./", "https://dav.example.com:8443"])
      assert.equal((await at(url)).status, 200, url);
    for (const url of [
      "https://app.example.com/",
      "https://dav.example.com.evil.test/",
      "https://app.example.com/dav.example.com",
      "https://dav.example.com@app.example.com/",
      "https://app.example.com#dav.example.com",
      "dav.example.com",
    ]) {
      const answer = await at(url);
      assertProblem(answer, 403, "insufficient_scope");
      assert.equal(answer.headers.get("www-authenticate"), 'Bearer error="insufficient_scope", scope="verify"');
    }
    assertProblem(await get(server, "/auth/verify", token), 403, "insufficient_scope");
  });

  test("counts in one Authorization header only, and in no other place", async (t) => {
    const { server } = await startAdmin(t);
    const token = await create(server, "ci", "--scope", "verify", "events:read");
    for (const [path, headers] of [
      [`/admin/api/status?access_token=${token}`, {}],
      ["/admin/api/status", { Cookie: `authserve=${token}` }],
      ["/admin/api/status", { "X-Api-Key": token }],
      ["/admin/api/status", { Authorization: token }],
      ["/admin/api/status", { Authorization: `Token ${token}` }],
    ] as const)
      assert.equal((await ask(server, path, { headers: { ...headers } })).status, 401, path);
    for (const value of [`Bearer  ${token}`, `Bearer ${token}, Bearer x`, `Bearer ${token} x`])
      assert.notEqual((await ask(server, "/admin/api/status", { headers: { Authorization: value } })).status, 500);
    assert.equal((await get(server, "/admin/api/status", token)).status, 200);
  });

  test("has a header of its own for forward-auth, where the app needs Authorization", async (t) => {
    const { server, headers: session } = await startAdmin(t);
    const token = await create(server, "hass", "--scope", "verify", "events:read");
    const other = await create(server, "other", "--scope", "verify");
    const at = (headers: Record<string, string>) => ask(server, "/auth/verify", { headers });
    for (const authorization of ["Bearer the-app's-own", "Basic eDp5", `Bearer ${other}`, session.Authorization]) {
      const { status, headers } = await at({ "X-Authserve-Token": token, Authorization: authorization });
      assert.deepEqual([status, names(headers)], [200, ["1", EMAIL, "hass"]], authorization);
      assert.equal(headers.get("remote-credential"), authorization.includes(other) ? "token" : "");
    }
    assert.deepEqual(names((await at({ "X-Authserve-Token": token })).headers), ["1", EMAIL, "hass"]);
    assertProblem(
      await at({ "X-Authserve-Token": newToken(), Authorization: session.Authorization }),
      401,
      "invalid_token",
    );
    assertProblem(await at({ "X-Authserve-Token": session.Authorization }), 401, "invalid_token");
    assert.equal((await at({ "X-Authserve-Token": "", Authorization: session.Authorization })).status, 200);
    const twice = [`X-Authserve-Token: ${token}`, `X-Authserve-Token: ${token}`];
    assert.equal((await request(server.port, { target: "/auth/verify", lines: twice })).status, 401);
    assert.equal((await ask(server, "/admin/api/status", { headers: { "X-Authserve-Token": token } })).status, 401);
  });

  test("is taken as the password of Basic by forward-auth, which asks for it, and nowhere else", async (t) => {
    const { server } = await startAdmin(t, { TRUSTED_PROXIES: "127.0.0.1" });
    const token = await create(server, "git", "--scope", "verify", "events:read", "metrics");
    const basic = (password: string) => ({ Authorization: `Basic ${btoa(`me:${password}`)}` });
    const answer = await ask(server, "/auth/verify", { headers: basic(token) });
    assert.deepEqual([answer.status, answer.headers.get("remote-token")], [200, "git"]);
    assert.equal((await ask(server, "/admin/api/status", { headers: basic(token) })).status, 401);
    assert.equal((await ask(server, "/auth/me", { headers: basic(token) })).status, 401);
    const challenge = async (headers: string[]) => {
      const { headers: sent } = await request(server.port, { target: "/auth/verify", lines: headers });
      return sent["www-authenticate"];
    };
    const wrong = `Authorization: ${basic("ask_wrong").Authorization}`;
    const method = (name: string) => `X-Forwarded-Method: ${name}`;
    const fetched = (mode: string, site: string) => [`Sec-Fetch-Mode: ${mode}`, `Sec-Fetch-Site: ${site}`];
    for (const lines of [
      [],
      ["User-Agent: git/2.39"],
      ["User-Agent: Mozilla/5.0 (compatible; Liferea/1.15.8; Linux; https://lzone.de/liferea/)"],
      // Only scripts of browsers send such a method, and they say where they are from.
      [method("PROPFIND"), "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"],
      ["Authorization: Basic eDp5"],
      [wrong],
      // A client that keeps the cookies of an app, and whose token has expired.
      [wrong, "Cookie: a=b"],
      // What KIO 5.103 of KDE sends with every method.
      [method("PROPFIND"), "Accept: text/html, text/*;q=0.9, image/jpeg;q=0.9, image/*;q=0.9, */*;q=0.8"],
      // What Thunderbird 153 sends for a calendar of CalDAV, and for one of a file.
      [method("PROPFIND"), "Accept: text/xml", "Origin: https://app.example.com", ...fetched("no-cors", "same-origin")],
      ["Accept: text/calendar,text/plain;q=0.8,*/*;q=0.5", ...fetched("no-cors", "none")],
    ])
      assert.equal(await challenge(lines), 'Basic realm="authserve"', lines.join());
    for (const lines of [
      ["Accept: text/html"],
      ["Sec-Fetch-Mode: cors"],
      ["Accept: image/webp,*/*", ...fetched("no-cors", "same-origin")],
      ["Accept: */*", "Cookie: a=b", ...fetched("no-cors", "none")],
      [method("PROPFIND"), "Origin: https://app.example.com", ...fetched("cors", "same-origin")],
      [method("PROPFIND"), "X-Requested-With: XMLHttpRequest"],
      ["X-Requested-With: XMLHttpRequest"],
      ["Origin: https://app.example.com"],
      ["Cookie: a=b"],
      ["Authorization: Bearer x"],
      ["X-Authserve-Token: ask_wrong"],
      // A picture in Safari 15, or in any browser over plain HTTP: no Sec-Fetch-Mode.
      [
        "Accept: image/webp,*/*",
        "User-Agent: Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6",
      ],
    ])
      assert.match(String(await challenge(lines)), /^Bearer/, lines.join());
  });

  test("does in the API what its scopes say, and the description says the same", async (t) => {
    const { server } = await startAdmin(t);
    const tokens = {
      "events:read": await create(server, "reader", "--scope", "events:read"),
      "events:write": await create(server, "writer", "--scope", "events:write"),
      "events:erase": await create(server, "eraser", "--scope", "events:erase"),
      manage: await create(server, "manager", "--scope", "manage"),
      metrics: await create(server, "prometheus", "--scope", "metrics"),
    };
    type Operation = { security?: Record<string, string[]>[] };
    const { paths } = (await ask(server, "/openapi.json")).json as { paths: Record<string, Record<string, Operation>> };
    let checked = 0;
    for (const [path, operations] of Object.entries(paths).filter(([path]) => path.startsWith("/admin/api/"))) {
      for (const [method, { security = [] }] of Object.entries(operations)) {
        // What is erased is gone: that needs a scope of its own.
        const mayErase = security.some(({ machineToken = [] }) => machineToken.includes("events:erase"));
        assert.equal(mayErase, path.endsWith("/erase"), path);
        const needed = security.flatMap(({ machineToken = [] }) => machineToken);
        for (const [scope, token] of Object.entries(tokens)) {
          const headers = { ...bearer(token), ...(method === "post" && { "Content-Type": "application/json" }) };
          const body = method === "post" ? { body: "{}" } : {};
          const url = path.replace("{id}", "none");
          const { status, json } = await ask(server, url, { method: method.toUpperCase(), headers, ...body });
          const isRefused = status === 403 && json.code === "insufficient_scope";
          assert.equal(isRefused, !needed.includes(scope), `${method} ${path} with ${scope}: ${status}`);
          checked++;
        }
      }
    }
    assert.ok(checked > 40);
  });

  test("with the scope metrics reads the metrics from any address, and another one does not", async (t) => {
    const { server } = await startAdmin(t, { METRICS_ALLOWED_ADDRESSES: "192.0.2.1" });
    assert.equal((await ask(server, "/metrics")).status, 404);
    const token = await create(server, "prometheus", "--scope", "metrics");
    assert.match((await get(server, "/metrics", token)).text, /^authserve_/m);
    assertProblem(
      await get(server, "/metrics", await create(server, "x", "--scope", "verify")),
      403,
      "insufficient_scope",
    );
    assertProblem(await get(server, "/metrics", newToken()), 401, "invalid_token");
  });

  test("is refused from the next request on when it is revoked, and when it has expired", async (t) => {
    const { server } = await startAdmin(t);
    const token = await create(server, "ci", "--scope", "verify");
    assert.equal((await get(server, "/auth/verify", token)).status, 200);
    assert.equal((await server.run(["tokens", "revoke", "ci"])).code, 0);
    assertProblem(await get(server, "/auth/verify", token), 401, "invalid_token");
    const short = await create(server, "short", "--scope", "verify", "--expires", "1s");
    await until(async () => (await get(server, "/auth/verify", short)).status === 401);
  });

  test("is refused with 429 after 50 wrong ones, and with 401 by forward-auth", async (t) => {
    const { server } = await startAdmin(t);
    for (let n = 0; n < 50; n++) assert.equal((await get(server, "/admin/api/status", newToken())).status, 401);
    const answer = await get(server, "/admin/api/status", newToken());
    assertProblem(answer, 429, "too_many_wrong_tokens");
    assert.match(String(answer.headers.get("retry-after")), /^[1-9][0-9]{0,2}$/);
    assertProblem(await get(server, "/auth/verify", newToken()), 401, "too_many_wrong_tokens");
    await logIn(server);
  });

  test("is nowhere in the log, and neither are wrong ones", async (t) => {
    const { server } = await startAdmin(t, { LOG_LEVEL: "debug" });
    const token = await create(server, "ci", "--scope", "verify");
    const wrong = [newToken(), "ask_typing-error"];
    for (const one of [token, ...wrong]) {
      for (const path of ["/auth/verify", "/auth/me", "/admin/api/status", "/metrics", "/nope"])
        await get(server, path, one);
    }
    await server.stop();
    for (const one of [token, ...wrong]) assert.ok(!(server.stdout() + server.stderr()).includes(one.slice(4, 20)));
  });
});

test("what forward-auth decides is counted by entry, and what it denies is listed without the query", async (t) => {
  const server = await startServer({
    env: {
      PUBLIC_URL: "https://auth.example.com",
      TRUSTED_PROXIES: "127.0.0.1",
      METRICS_ALLOWED_ADDRESSES: "198.51.100.7",
      CONFIG_FILE: configFile("access:\n  - { path: /open, allow: everyone }\n  - { path: /closed, allow: nobody }\n"),
    },
  });
  t.after(() => server[Symbol.asyncDispose]());
  const verify = (path: string, headers: Record<string, string> = {}) => {
    const original = { "X-Original-URL": `https://app.example.com${path}`, "X-Original-Method": "GET" };
    const proxied = { "X-Forwarded-For": "198.51.100.7", ...original };
    return ask(server, "/auth/verify", { headers: { ...proxied, ...headers } });
  };
  assert.equal((await verify("/open")).status, 200);
  assertProblem(await verify("/closed?key=secret"), 403, "access_denied");
  assertProblem(await verify("/other"), 401, "missing_token");
  assertProblem(await verify("/other", bearer(newToken())), 401, "invalid_token");
  const { text } = await ask(server, "/metrics", { headers: { "X-Forwarded-For": "198.51.100.7" } });
  const counted = [...text.matchAll(/^authserve_access_decisions_total\{entry="(\w+)",decision="(\w+)"\} (\d+)$/gm)];
  assert.deepEqual(counted.map(([, ...parts]) => parts.join(" ")).sort(), [
    "1 allowed 1",
    "2 denied 1",
    "none denied 1",
    "none login 1",
  ]);
  const token = await create(server, "reader", "--scope", "events:read");
  const denials = await get(server, "/admin/api/access/denials", token, { Host: "auth.example.com" });
  const items = (denials.json.items as Record<string, unknown>[]).map(({ at: _, ...item }) => item);
  const asked = { address: "198.51.100.7", method: "GET", host: "app.example.com" };
  assert.deepEqual(items, [
    { entry: null, code: "invalid_token", token: null, ...asked, path: "/other" },
    { entry: 2, code: "access_denied", token: null, ...asked, path: "/closed" },
  ]);
});

suite("the tokens", () => {
  test("are created, shown once, listed and revoked in the API of the page", async (t) => {
    const { server, get: read, send } = await startAdmin(t);
    const answer = await send("tokens", { name: "ci", scopes: ["verify", "events:read"] });
    const { token, ...item } = v.parse(tokens.create.output, answer.json);
    assert.deepEqual([item.name, item.scopes], ["ci", ["events:read", "verify"]]);
    assert.equal(Date.parse(String(item.expiresAt)) - Date.parse(item.createdAt), 90 * 86_400_000);
    assert.equal((await get(server, "/auth/verify", token)).status, 200);
    const listed = await read("tokens");
    assert.ok(!listed.text.includes(token));
    const network = async () => v.parse(tokens.listed.output, (await read("tokens")).json).items[0]?.lastNetwork;
    assert.equal(await until(network), "127.0.0.0/24");
    assertProblem(await send("tokens", { name: "ci", scopes: ["verify"] }), 400, "validation_failed");
    for (const body of [
      { name: "B", scopes: ["verify"] },
      { name: "b", scopes: ["root"] },
      { name: "b", scopes: [] },
    ])
      assertProblem(await send("tokens", body), 400, "validation_failed");
    assert.deepEqual((await send("tokens/revoke", { names: ["ci", "none"] })).json, { revoked: 1, names: ["ci"] });
    assert.equal((await get(server, "/auth/verify", token)).status, 401);
    await send("tokens", { name: "never", scopes: ["metrics"], expiresInMs: null });
    assert.equal(v.parse(tokens.listed.output, (await read("tokens")).json).items[0]?.expiresAt, null);
    assert.deepEqual((await send("tokens/revoke", { all: true })).json, { revoked: 1, names: ["never"] });
    assertProblem(await send("tokens/revoke", {}), 400, "validation_failed");
  });

  test("that expire within a week are an alert, a metric and a line of doctor", async (t) => {
    const { server, get: read } = await startAdmin(t, { METRICS_ALLOWED_ADDRESSES: "127.0.0.1" });
    await create(server, "soon", "--scope", "verify", "--expires", "6d");
    await create(server, "later", "--scope", "verify", "--expires", "8d");
    await create(server, "never", "--scope", "verify", "--expires", "never");
    const alerts = async () => (await read("alerts")).json.items as { name: string; summary: string }[];
    await until(async () => (await alerts()).length > 0);
    assert.deepEqual(
      (await alerts()).map(({ name, summary }) => [name, summary]),
      [["AuthserveTokenExpiring", "the token soon expires in 5 days"]],
    );
    const { text } = await ask(server, "/metrics");
    const series = [...text.matchAll(/^authserve_token_not_after_timestamp_seconds\{token="(\w+)"\}/gm)];
    assert.deepEqual(series.map(([, token]) => token).sort(), ["later", "soon"]);
    const findings = JSON.parse((await server.run(["doctor", "--json"])).stdout) as { check: string; found: string }[];
    assert.deepEqual(
      findings.filter(({ check }) => check === "tokens").map(({ found }) => found),
      ["the token soon expires in 5 days"],
    );
  });

  test("are listed and revoked by commands", async (t) => {
    const { server } = await startAdmin(t);
    const token = await create(server, "b", "--scope", "verify:App.example.com", "--expires", "never");
    await create(server, "a", "--scope", "metrics");
    await get(server, "/auth/me", token);
    const { stdout } = await server.run(["tokens", "list", "--json"]);
    const [first, second] = JSON.parse(stdout);
    assert.deepEqual(Object.keys(first), ["name", "scopes", "createdAt", "expiresAt", "lastUsedAt", "lastNetwork"]);
    assert.deepEqual([first.name, first.scopes, first.lastUsedAt], ["a", ["metrics"], null]);
    assert.deepEqual([second.scopes, second.expiresAt], [["verify:app.example.com"], null]);
    assert.match((await server.run(["tokens", "list"])).stdout, /^b +verify:app\.example\.com .* never +never$/m);
    const again = await server.run(["tokens", "create", "a", "--scope", "verify"]);
    assert.deepEqual([again.code, again.stdout], [2, ""]);
    assert.match(again.stderr, /is taken/);
    const wrong = await server.run(["tokens", "create", "c", "--scope", "root"]);
    assert.match(wrong.stderr, /--scope is not usable: it must be one or more of verify, verify:HOST, events:read/);
    assert.equal((await server.run(["tokens", "revoke", "a", "none", "--json"])).code, 1);
    assert.deepEqual(JSON.parse((await server.run(["tokens", "revoke", "--all", "--json"])).stdout), {
      revoked: ["b"],
    });
    assert.equal((await server.run(["tokens", "revoke"])).code, 2);
  });
});
