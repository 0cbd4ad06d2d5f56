import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { PASSWORD_HASH } from "../helpers/credentials.ts";
import { type Echo, sha256 } from "../helpers/echo-app.ts";
import { IDENTITY_HEADERS } from "../helpers/identity-headers.ts";
import { freePort } from "../helpers/ports.ts";
import {
  APP,
  AUTH,
  COOKIE,
  echoOf,
  GENUINE,
  loggedIn,
  logInOn,
  PROXIES,
  siteOf,
  startSite,
  userHeaders,
} from "../helpers/protected-app.ts";
import { startServer } from "../helpers/server.ts";
import { claimsOf, forge, HEADER } from "../helpers/sign.ts";
import { PAGE, Visitor } from "../helpers/visitor.ts";
import { workingDir } from "../helpers/working-dir.ts";

const DEEP = `${APP}/reports/2026?from=a&to=b%20c&sort=%26&x=1+2`;

const SPELLINGS = ["Remote-User", "Remote-Email", "Remote-Token"].flatMap((name) =>
  ["-", "_", "."].flatMap((separator) => {
    const spelled = name.replace("-", separator);
    return [spelled, spelled.toLowerCase(), spelled.toUpperCase(), spelled];
  }),
);

const FORGED = SPELLINGS.flatMap((name) => [name, "mallory"]);

const SAID_BY_PROXIES = [
  ...["For", "Proto", "Host", "Prefix", "Uri", "Method", "Port", "User", "Email", "Server", "Ssl", "Scheme"].map(
    (name) => `X-Forwarded-${name}`,
  ),
  ...["URL", "URI", "Method", "Host", "For", "Prefix"].map((name) => `X-Original-${name}`),
  ...["Remote-Name", "Remote-Groups", "Remote-Credential", "Forwarded"],
  ...Object.values(IDENTITY_HEADERS).flat(),
];

/** The owner has neither a name nor groups. */
const PEOPLE = `people:
  ada: { email: owner@example.com, owner: true }
  ben: { name: Bén, email: ben@example.com, passwordHash: env:BEN_HASH, groups: [family, kids] }
`;

suite("an app behind a proxy that asks /auth/verify", { concurrency: PROXIES.length }, () => {
  for (const [name, needsProxy] of PROXIES) {
    // Its tests share one session, and each login replaces it.
    suite(name, { ...needsProxy(), concurrency: 1 }, () => {
      const site = siteOf(name);

      test("a browser without a session gets the login page, and after the login the page it asked for", async () => {
        const { proxy, app } = site;
        const before = app.received.length;
        const visitor = new Visitor(proxy.port);
        const sent = await visitor.request(DEEP);
        assert.equal(sent.status, name === "haproxy" ? 303 : 302);
        assert.equal(sent.headers.location, `${AUTH}/login?rd=${encodeURIComponent(DEEP)}`);
        assert.equal(app.received.length, before);
        const visit = await logInOn(await visitor.open(DEEP), visitor);
        assert.equal(visit.url, DEEP);
        const echo = echoOf(visit);
        assert.deepEqual([echo.method, echo.url], ["GET", DEEP.slice(APP.length)]);
        assert.deepEqual(userHeaders(echo), GENUINE);
        const posted = app.received.length;
        const form = await new Visitor(proxy.port).request(DEEP, { method: "POST", body: "a=1" });
        assert.ok([302, 303].includes(form.status));
        assert.equal(app.received.length, posted);
      });

      test("a program passes with a token, and the session of the browser lives on", async () => {
        const { proxy, server } = site;
        const visitor = await loggedIn(site);
        const { stdout } = await server.run(["tokens", "create", "backup", "--scope", "verify:app.example.com"]);
        const program = new Visitor(proxy.port);
        const pass = (token: string) =>
          program.request(`${APP}/dav`, { headers: { accept: "*/*" }, lines: ["Authorization", `Bearer ${token}`] });
        const echo = echoOf(await pass(stdout.trim()));
        assert.deepEqual(userHeaders(echo), [GENUINE[0], ["remotetoken", "backup"], GENUINE[1]]);
        assert.ok(!JSON.stringify(echo).includes(stdout.trim()), "the app gets no token that it could use elsewhere");
        assert.equal((await pass(`${stdout.trim()}x`)).status, 401);
        assert.deepEqual(userHeaders(echoOf(await visitor.request(`${APP}/`))), GENUINE);
        const lines = ["X-Authserve-Token", stdout.trim(), "Authorization", "Bearer app-own-token"];
        const both = echoOf(await program.request(`${APP}/dav`, { headers: { accept: "*/*" }, lines }));
        assert.deepEqual(userHeaders(both), userHeaders(echo));
        assert.ok(!JSON.stringify(both).includes(stdout.trim()));
        assert.ok(both.headers.some(([, value]) => value === "Bearer app-own-token"));
        const { stdout: other } = await server.run(["tokens", "create", "other", "--scope", "verify:x.example.com"]);
        assert.equal((await pass(other.trim())).status, 403);
      });

      test("a browser whose session was superseded gets the login page with the reason", async () => {
        const first = await loggedIn(site);
        await loggedIn(site);
        const page = await first.open(DEEP);
        assert.deepEqual([page.status, new URL(page.url).pathname], [200, "/login"]);
        assert.match(page.text, /127\.0\.0\.0\/24/);
        assert.equal((await logInOn(page, first)).url, DEEP);
      });

      test("a program without a session gets 401 and no redirect", async () => {
        const { proxy, app } = site;
        const before = app.received.length;
        const visitor = new Visitor(proxy.port);
        // A browser would ask for the password of Basic in a box of its own.
        for (const [challenge, headers] of [
          [/^Basic realm="authserve"$/, { accept: "application/json" }],
          [/^Bearer/, { accept: "application/json", authorization: "Bearer x" }],
          [/^Bearer/, { ...PAGE, "x-requested-with": "XMLHttpRequest" }],
          [/^Bearer/, { ...PAGE, "sec-fetch-mode": "cors" }],
        ] as [RegExp, Record<string, string>][]) {
          const answer = await visitor.request(DEEP, { headers });
          assert.deepEqual([answer.status, answer.headers.location], [401, undefined], JSON.stringify(headers));
          assert.match(String(answer.headers["www-authenticate"]), challenge);
        }
        assert.equal(app.received.length, before);
      });

      test("the Authorization of an app reaches it, and the cookie decides", async () => {
        const visitor = await loggedIn(site);
        for (const authorization of ["Bearer app-own-token", "Basic eDp5", "Token x"]) {
          for (const headers of [PAGE, { accept: "application/json" }]) {
            const sent = await visitor.request(DEEP, { headers: { ...headers, authorization } });
            const passed = echoOf(sent).headers.filter(([header]) => /^authorization$/i.test(header));
            assert.deepEqual(
              passed.map(([, value]) => value),
              [authorization],
            );
          }
        }
        const before = site.app.received.length;
        const headers = { accept: "*/*", authorization: "Bearer app-own-token" };
        assert.equal((await new Visitor(site.proxy.port).request(DEEP, { headers })).status, 401);
        assert.equal(site.app.received.length, before);
      });

      test("a client cannot name the user, in any spelling that apps take for the same", async () => {
        const before = site.app.received.length;
        const stranger = new Visitor(site.proxy.port);
        assert.equal((await stranger.request(DEEP, { headers: { accept: "*/*" }, lines: FORGED })).status, 401);
        assert.equal(site.app.received.length, before);
        const visitor = await loggedIn(site);
        // A proxy may remove the headers that Connection names.
        const dropping = ["Connection", "close, Remote-User, Remote-Email"];
        for (const lines of [FORGED, dropping, [...FORGED, ...dropping]])
          assert.deepEqual(userHeaders(echoOf(await visitor.request(DEEP, { lines }))), GENUINE);
      });

      test("the app gets each person's own name and groups, and never those that a client names", async () => {
        const file = join(workingDir(), "authserve.yaml");
        writeFileSync(file, PEOPLE);
        await using site = await startSite(name, { CONFIG_FILE: file, BEN_HASH: PASSWORD_HASH });
        const ben = new Visitor(site.proxy.port);
        await logInOn(await ben.open(DEEP), ben, AUTH, undefined, "ben@example.com");
        const forged = ["-", "_"].flatMap((separator) =>
          ["Remote-User", "Remote-Name", "Remote-Groups"].flatMap((header) => [
            header.replace("-", separator),
            "mallory",
          ]),
        );
        const dropping = ["Connection", "close, Remote-Name, Remote-Groups"];
        for (const lines of [[], forged, [...forged, ...dropping]]) {
          const { headers } = echoOf(await ben.request(DEEP, { lines }));
          const sent = headers.map(([header, value]) => [
            header.toLowerCase(),
            Buffer.from(value, "latin1").toString(),
          ]);
          assert.deepEqual(sent.filter(([header]) => /^remote[-_](?!token)/.test(String(header))).sort(), [
            ["remote-email", "ben@example.com"],
            ["remote-groups", "family,kids"],
            ["remote-name", "Bén"],
            ["remote-user", "ben"],
          ]);
        }
        const ada = await loggedIn(site);
        assert.doesNotMatch(JSON.stringify(echoOf(await ada.request(DEEP, { lines: forged }))), /mallory|family/);
      });

      test("a client cannot choose where its login leads to", async () => {
        const { proxy } = site;
        const wrong = "evil.test";
        const lines = ["X-Original-URL", `https://${wrong}/`, "X-Original-Method", "POST", "X-Forwarded-Host", wrong];
        const more = ["X-Forwarded-Proto", "http", "X-Forwarded-Uri", "/x", "X-Forwarded-Method", "PUT"];
        const sent = await new Visitor(proxy.port).request(DEEP, { lines: [...lines, ...more] });
        assert.equal(sent.headers.location, `${AUTH}/login?rd=${encodeURIComponent(DEEP)}`);
      });

      test("a client cannot say what the proxy says, in any spelling that apps take for the same", async () => {
        const visitor = await loggedIn(site);
        for (const separator of ["-", "_"]) {
          const lines = SAID_BY_PROXIES.flatMap((name) => [name.replaceAll("-", separator), "mallory"]);
          const { headers } = echoOf(await visitor.request(DEEP, { lines }));
          assert.deepEqual(
            headers.filter(([, value]) => value.includes("mallory")),
            [],
          );
          for (const address of [/^x-forwarded-for$/i, /^x-real-ip$/i])
            assert.deepEqual(
              headers.filter(([header]) => address.test(header)).map(([, value]) => value),
              ["127.0.0.1"],
            );
        }
      });

      test("a client cannot choose a part of the path of authserve", async () => {
        const lines = ["X-Forwarded-Prefix", "/mallory"];
        const sent = await new Visitor(site.proxy.port).request(`${AUTH}/`, { lines });
        assert.deepEqual([sent.status, sent.headers.location], [303, "/login"]);
      });

      test("a connection is upgraded to no other protocol than that of websockets", async () => {
        const visitor = await loggedIn(site);
        for (const upgrade of [["h2c"], ["websocket, h2c"], ["h2c, websocket"], ["h2c", "websocket"]]) {
          const { socket } = await visitor.upgrade(DEEP, upgrade);
          socket?.destroy();
          const { headers } = site.app.received.at(-1) as Echo;
          const passed = headers.filter(([header]) => /^upgrade$/i.test(header)).map(([, value]) => value);
          assert.ok(!passed.some((value) => /h2c/i.test(value)), `${upgrade} became ${passed}`);
        }
      });

      test("a body of 100 KB arrives whole", async () => {
        const visitor = await loggedIn(site);
        const body = Buffer.from("0123456789".repeat(10_240));
        for (const isChunked of [false, true]) {
          const echo = echoOf(await visitor.request(DEEP, { method: "POST", body, isChunked }));
          assert.deepEqual([echo.method, echo.bodyBytes, echo.bodySha256], ["POST", body.length, sha256(body)]);
          assert.deepEqual(userHeaders(echo), GENUINE);
        }
      });

      test("a websocket opens with a session only", async (t) => {
        const before = site.app.received.length;
        assert.equal((await new Visitor(site.proxy.port).upgrade(`${APP}/live`)).status, 401);
        assert.equal(site.app.received.length, before);
        const { status, socket } = await (await loggedIn(site)).upgrade(`${APP}/live`);
        assert.equal(status, 101);
        assert.ok(socket);
        t.after(() => void socket.destroy());
        assert.deepEqual(userHeaders(site.app.received.at(-1) as Echo), GENUINE);
        socket.write("one ");
        socket.write("two");
        let echoed = "";
        while (echoed.length < "one two".length) echoed += String((await once(socket, "data"))[0]);
        assert.equal(echoed, "one two");
      });

      test("a browser in use stays logged in, and one that stays away is logged out", async () => {
        await using site = await startSite(name, { PORT: String(await freePort()), JWT_TTL: "10m" });
        const visitor = await loggedIn(site);
        const first = visitor.cookies.get(COOKIE)?.value ?? "";
        // With longer sessions, little is left of this one.
        const { dir, env, port } = site.server;
        await site.server.stop();
        await using longer = await startServer({ dir, env: { ...env, JWT_TTL: "1h" } });
        const visit = await visitor.open(DEEP);
        assert.deepEqual([visit.status, visit.url, longer.port], [200, DEEP, port]);
        const second = visitor.cookies.get(COOKIE)?.value ?? "";
        assert.ok(claimsOf(second).exp > claimsOf(first).exp + 1800);
        assert.deepEqual(userHeaders(echoOf(await visitor.open(DEEP))), GENUINE);

        const now = Math.floor(Date.now() / 1000);
        assert.equal(visitor.cookies.get(COOKIE)?.value, second, "a renewal that is not due");

        const late = forge(HEADER, { ...claimsOf(second), iat: now - 7200, exp: now - 3600 });
        const sent = { headers: { ...PAGE, cookie: `${COOKIE}=${late}` } };
        const page = await new Visitor(site.proxy.port).open(DEEP, sent);
        assert.equal(new URL(page.url).origin, AUTH);
        assert.match(page.text, /name="password"/);
      });

      test("an app that only fetches stays logged in, without a page, and no session is revived", async () => {
        await using site = await startSite(name, { PORT: String(await freePort()), JWT_TTL: "10m" });
        const visitor = await loggedIn(site);
        const first = visitor.cookies.get(COOKIE)?.value ?? "";
        const { dir, env, port } = site.server;
        await site.server.stop();
        await using longer = await startServer({ dir, env: { ...env, JWT_TTL: "1h" } });
        assert.equal(longer.port, port);
        const asked = { method: "POST", headers: { accept: "application/json", "sec-fetch-mode": "cors" }, body: "{}" };
        const answer = await visitor.request(DEEP, asked);
        const echo = echoOf(answer);
        assert.deepEqual(userHeaders(echo), GENUINE);
        assert.ok(!echo.headers.some(([header]) => /^set-cookie$/i.test(header)));
        // The app sets a cookie itself, which must not get lost.
        assert.equal(answer.headers["set-cookie"]?.length, 2);
        const second = visitor.cookies.get(COOKIE)?.value ?? "";
        const [before, after] = [claimsOf(first), claimsOf(second)];
        assert.deepEqual([after.sid, after.iat], [before.sid, before.iat]);
        assert.ok(after.exp > before.exp + 1800);
        assert.equal((await visitor.request(DEEP, asked)).headers["set-cookie"]?.length, 1);

        const other = await loggedIn(site);
        const refused = await visitor.request(DEEP, asked);
        assert.deepEqual([refused.status, refused.headers["set-cookie"]], [401, undefined]);
        assert.equal((await other.request(DEEP, asked)).status, 200);
      });

      test("nobody gets in while authserve does not answer", async () => {
        await using site = await startSite(name);
        const visitor = await loggedIn(site);
        const before = site.app.received.length;
        await site.server.stop();
        for (const headers of [PAGE, { accept: "application/json" }]) {
          const { status } = await visitor.request(DEEP, { headers, lines: FORGED });
          assert.ok(status >= 500, String(status));
        }
        assert.ok((await visitor.upgrade(`${APP}/live`)).status >= 500);
        assert.equal(site.app.received.length, before);
      });
    });
  }
});
