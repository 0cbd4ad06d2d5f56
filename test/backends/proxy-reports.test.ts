import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import {
  APP,
  COOKIE,
  echoOf,
  GENUINE,
  loggedIn,
  logInOn,
  PROXIES,
  siteOf,
  startBefore,
  userHeaders,
} from "../helpers/protected-app.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { PAGE, Visitor } from "../helpers/visitor.ts";

/** The address with a query of some length that is three times as long when it is encoded. */
const withQuery = (length: number) => `${APP}/explore?${"&=/:".repeat(length)}`.slice(0, length);

const LONGEST_TARGET = 4096;

const EVENT = "data: one\n\n";

/** An app that begins the answer to `/events` with one event, and does not end it. */
async function startEvents(context: Cleanup): Promise<{ port: number }> {
  const server = createServer(({ url }, response) => {
    if (url !== "/events") return void response.end("{}");
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(EVENT);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port };
}

/** An app that answers with the first part of a body as soon as it has arrived. */
async function startUploads(context: Cleanup): Promise<{ port: number }> {
  const server = createServer((request, response) => {
    if (request.method === "GET") return void response.end("{}");
    request.once("data", (part: Buffer) => response.writeHead(200).write(part));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port };
}

// What users of other programs that protect apps have reported, tried here.
suite("what others reported of a login before an app", { concurrency: PROXIES.length }, () => {
  for (const [name, needsProxy] of PROXIES) {
    suite(name, { ...needsProxy(), concurrency: 1 }, () => {
      const site = siteOf(name);

      // https://github.com/authelia/authelia/issues/8519
      test("an Authorization without credentials changes nothing", async () => {
        const visitor = await loggedIn(site);
        const stranger = new Visitor(site.proxy.port);
        for (const authorization of ["Token", "Bearer", "Basic", ""]) {
          const echo = echoOf(await visitor.request(`${APP}/`, { headers: { accept: "*/*", authorization } }));
          assert.deepEqual(userHeaders(echo), GENUINE, authorization);
          const sent = await stranger.request(`${APP}/`, { headers: { ...PAGE, authorization } });
          assert.match(String(sent.headers.location), /\/login\?rd=/, authorization);
        }
      });

      // https://github.com/authelia/authelia/issues/4905: without a challenge no client asks for the password. Captured
      // from KIO 5.103 and Thunderbird 153, which look like browsers.
      test("a client of WebDAV that looks like a browser is asked for its password", async () => {
        const stranger = new Visitor(site.proxy.port);
        const ofThunderbird = { "sec-fetch-dest": "empty", "sec-fetch-mode": "no-cors" };
        for (const [method, headers] of [
          ["PROPFIND", { accept: "text/html, text/*;q=0.9, image/*;q=0.9, */*;q=0.8", depth: "1" }],
          ["PROPFIND", { accept: "text/xml", origin: APP, ...ofThunderbird, "sec-fetch-site": "same-origin" }],
          ["GET", { accept: "text/calendar,text/plain;q=0.8,*/*;q=0.5", ...ofThunderbird, "sec-fetch-site": "none" }],
        ] as const) {
          const asked = await stranger.request(`${APP}/`, { method, headers });
          assert.deepEqual([asked.status, asked.headers["www-authenticate"]], [401, 'Basic realm="authserve"'], method);
        }
        const ofPage = { accept: "*/*", "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin", origin: APP };
        const script = await stranger.request(`${APP}/`, { method: "PROPFIND", headers: ofPage });
        assert.deepEqual([script.status, script.headers["www-authenticate"]], [401, "Bearer"]);
      });

      // https://github.com/tinyauthapp/tinyauth/issues/155, https://github.com/oauth2-proxy/oauth2-proxy/issues/2606
      test("an old cookie of the same name, for another domain, does not hide the live one", async () => {
        const visitor = await loggedIn(site);
        const old = visitor.cookies.get(COOKIE)?.value;
        const live = (await loggedIn(site)).cookies.get(COOKIE)?.value;
        for (const values of [
          [old, live],
          [live, old],
          ["", live],
          ["x", live],
        ]) {
          const cookie = values.map((value) => `${COOKIE}=${value}`).join("; ");
          const answer = await new Visitor(site.proxy.port).request(`${APP}/`, { headers: { accept: "*/*", cookie } });
          assert.deepEqual(userHeaders(echoOf(answer)), GENUINE);
        }
      });

      // https://github.com/oauth2-proxy/oauth2-proxy/issues/676: "upstream sent too big header", and status 500
      test("a login leads back to a long address, and to the page of one that is too long", async () => {
        for (const [asked, expected] of [
          [withQuery(LONGEST_TARGET), withQuery(LONGEST_TARGET)],
          [withQuery(LONGEST_TARGET + 1), `${APP}/explore`],
          [`${APP}/${"a".repeat(LONGEST_TARGET)}`, `${APP}/`],
        ] as const) {
          const visitor = new Visitor(site.proxy.port);
          const visit = await logInOn(await visitor.open(asked), visitor);
          assert.deepEqual([visit.status, visit.url], [200, expected]);
          assert.equal(APP + echoOf(await visitor.request(asked)).url, asked);
        }
      });

      // https://github.com/vouch/vouch-proxy/issues/472, https://github.com/vouch/vouch-proxy/issues/409,
      // https://github.com/tinyauthapp/tinyauth/issues/1060
      for (const path of [
        "/wiki/100%25_people;a=b",
        "/search?to=https%3A%2F%2Felse.test%2F%3Fx%3D1%26y&raw=https://else.test/?z=1",
        "/w/a%2Fb//c?d=%zz",
        "/%C3%BC?q=%C3%A9&rd=/x&rd=https://else.test/",
        // nginx and Caddy refuse such a path themselves.
        ...(name === "haproxy" ? ["/wiki/%@!_people_say"] : []),
      ]) {
        test(`a login leads back to ${path}`, async () => {
          const visitor = new Visitor(site.proxy.port);
          const visit = await logInOn(await visitor.open(APP + path), visitor);
          assert.deepEqual([visit.url, echoOf(visit).url], [APP + path, path]);
        });
      }

      // https://github.com/bitly/oauth2_proxy/issues/266
      test("an event of an app arrives while its answer goes on", async (t) => {
        await using site = await startBefore((await startEvents(t)).port, name);
        const visitor = await loggedIn(site);
        assert.equal(await visitor.firstPart(`${APP}/events`), EVENT);
      });

      // https://github.com/immich-app/immich/pull/24351: nginx kept the upload on its own disk first
      test("an upload reaches the app while it goes on", async (t) => {
        await using site = await startBefore((await startUploads(t)).port, name);
        const visitor = await loggedIn(site);
        assert.equal(await visitor.firstPart(`${APP}/`, "one"), "one");
      });
    });
  }
});
