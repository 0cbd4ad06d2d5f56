import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { adminApiSuite, startAdmin } from "../contract/admin-api.ts";
import { ask, assertProblem, deliver, logIn, post } from "../helpers/client.ts";

adminApiSuite("SQLite", async () => ({}));

suite("the API of the page is closed", () => {
  const PATHS = [
    "status",
    "events",
    "events/evt_1",
    "events/evt_1/payload",
    "sources",
    "jobs",
    "jobs/errors",
    "stats",
    "alerts",
    "outages",
    "session",
  ];
  const POSTS = [
    "events/replay",
    "events/discard",
    "routes/pause",
    "routes/resume",
    "sources/catch-up",
    "alerts/silence",
    "alerts/unsilence",
    "session/revoke",
  ];

  test("without the live session", async (t) => {
    const { server, headers } = await startAdmin(t);
    for (const path of PATHS) assertProblem(await ask(server, `/admin/api/${path}`), 401, "missing_token");
    for (const path of POSTS) assertProblem(await post(server, `/admin/api/${path}`, {}), 401, "missing_token");
    await logIn(server);
    for (const path of PATHS) {
      assertProblem(await ask(server, `/admin/api/${path}`, { headers }), 401, "session_invalidated");
    }
  });

  test("to other sites that use the cookie of a browser", async (t) => {
    const { server, headers } = await startAdmin(t);
    const cookie = { Cookie: `authserve=${headers.Authorization.slice("Bearer ".length)}` };
    assert.equal((await ask(server, "/admin/api/events", { headers: cookie })).status, 200);
    for (const path of POSTS) {
      const body = { ids: ["evt_1"], reason: "r" };
      const cross = { ...cookie, "Sec-Fetch-Site": "cross-site" };
      assertProblem(await post(server, `/admin/api/${path}`, body, cross), 403, "cross_site_request");
    }
    const own = { ...cookie, "Sec-Fetch-Site": "same-origin" };
    assert.equal((await post(server, "/admin/api/events/replay", { ids: ["evt_1"] }, own)).status, 200);
  });

  test("to addresses that are not allowed, and if ADMIN is off", async (t) => {
    for (const env of [{ ADMIN_ALLOWED_ADDRESSES: "192.0.2.0/24" }, { ADMIN: "off" }]) {
      const { server, headers } = await startAdmin(t, env);
      for (const path of PATHS) {
        assertProblem(await ask(server, `/admin/api/${path}`, { headers }), 404, "not_found");
      }
    }
    const { get } = await startAdmin(t, { ADMIN_ALLOWED_ADDRESSES: "127.0.0.0/8" });
    assert.equal((await get("status")).status, 200);
  });
});

test("an event of any name can be read, also one that no path can have", async (t) => {
  const { server, headers } = await startAdmin(t);
  const names = [".", "..", "-", "%2E", "a/b", "?id=x", "..%2f.."];
  for (const id of names) await deliver(server, { id, type: "odd", note: `of ${id}` });
  for (const id of names) {
    const segment = id === "." || id === ".." ? "-" : encodeURIComponent(id);
    const query = segment === "-" ? `?id=${id}` : "";
    const shown = await ask(server, `/admin/api/events/${segment}${query}`, { headers });
    assert.deepEqual([shown.status, JSON.parse(shown.text).eventId], [200, id], id);
    assert.deepEqual(JSON.parse(shown.text).routes, [{ route: "all", unmet: null, expected: null, found: null }]);
    const payload = await ask(server, `/admin/api/events/${segment}/payload${query}`, { headers });
    assert.equal(JSON.parse(payload.text).note, `of ${id}`);
  }
  assertProblem(await ask(server, "/admin/api/events/-?id=none", { headers }), 404, "not_found");
});
