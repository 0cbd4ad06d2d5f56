import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { ask, assertProblem, logIn } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

suite("the manual at /docs/", () => {
  test("leads to the login page without a session, and back to the page that was asked for", async () => {
    for (const [path, location] of [
      ["/docs", "/docs/"],
      ["/docs/", "/login?rd=/docs/"],
      ["/docs/reference/settings.html?x", "/login?rd=/docs/reference%2Fsettings.html"],
    ] as const) {
      const answer = await ask(server, path, { redirect: "manual" });
      assert.deepEqual([answer.status, answer.headers.get("location")], [302, location]);
    }
    assertProblem(await ask(server, "/docs/search-index.js"), 401, "missing_token");
    assertProblem(await ask(server, "/docs/no-page"), 401, "missing_token");
  });

  test("has the pages of this version, and files that they link to", async () => {
    const headers = { Authorization: `Bearer ${await logIn(server)}` };
    const page = await ask(server, "/docs/events.html", { headers });
    assert.equal(page.status, 200);
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    assert.match(page.text, /<h2 id="replay-a-dead-letter">/);
    const policy = String(page.headers.get("content-security-policy"));
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    for (const [name, type] of [
      ["", "text/html; charset=utf-8"],
      ["deploy/Caddyfile.app", "text/plain; charset=utf-8"],
      ["llms.txt", "text/plain; charset=utf-8"],
      ["pictures/login.png", "image/png"],
    ]) {
      const answer = await ask(server, `/docs/${name}`, { headers });
      assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, type]);
    }
    for (const name of ["no.html", "../README.md", "%2e%2e/package.json", "toString", "events.html/", "deploy/"]) {
      assertProblem(await ask(server, `/docs/${name}`, { headers }), 404, "not_found");
    }
    assertProblem(await ask(server, "/docs/events.html", { method: "POST", headers }), 405, "method_not_allowed");
    assert.equal((await ask(server, "/docs/events.html", { method: "HEAD", headers })).status, 200);
  });

  test("is for everybody if it is public, and is not there if it is off", async () => {
    await using open = await startServer({ env: { DOCS: "public" } });
    assert.equal((await ask(open, "/docs/")).status, 200);
    await using off = await startServer({ env: { DOCS: "off" } });
    for (const path of ["/docs", "/docs/", "/docs/events.html"]) assertProblem(await ask(off, path), 404, "not_found");
  });
});
