import assert from "node:assert/strict";
import { get } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { bundlePage } from "../../src/platform/page-bundle.ts";
import { ask, assertProblem, logIn } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";

const MOST_BYTES = 80 * 1024;

/** The body of an answer as it was sent. */
async function rawBody(server: Server, path: string): Promise<{ encoding: string | undefined; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(`${server.url}${path}`, { headers: { "Accept-Encoding": "br, gzip" } }, (response) => {
      buffer(response).then((body) => resolve({ encoding: response.headers["content-encoding"], body }), reject);
    }).on("error", reject);
  });
}

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

suite("the admin page", () => {
  test("leads to the login page without a session", async () => {
    const answer = await ask(server, "/admin/", { redirect: "manual" });
    assert.deepEqual([answer.status, answer.headers.get("location")], [302, "/login?rd=/admin/"]);
    const without = await ask(server, "/admin", { redirect: "manual" });
    assert.deepEqual([without.status, without.headers.get("location")], [302, "/admin/"]);
  });

  test("is served with its script and style, which no other origin can add to", async () => {
    const headers = { Authorization: `Bearer ${await logIn(server)}`, "Accept-Language": "es" };
    const page = await ask(server, "/admin/", { headers });
    assert.equal(page.status, 200);
    assert.match(page.text, /<html lang="es">/);
    const policy = String(page.headers.get("content-security-policy"));
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.doesNotMatch(page.text, /<script(?! type="module" src="assets\/)|<style|style="/);
    for (const [extension, type] of [
      ["js", "text/javascript; charset=utf-8"],
      ["css", "text/css; charset=utf-8"],
    ]) {
      const [name] = new RegExp(`assets/app-[0-9a-f]{12}\\.${extension}`).exec(page.text) ?? [];
      const asset = await ask(server, `/admin/${name}`);
      assert.equal(asset.headers.get("content-type"), type);
      assert.equal(asset.headers.get("x-content-type-options"), "nosniff");
      const { encoding, body } = await rawBody(server, `/admin/${name}`);
      assert.equal(encoding, "gzip");
      assert.equal(gunzipSync(body).toString(), asset.text);
    }
    assertProblem(await ask(server, "/admin/assets/app.js"), 404, "not_found");
  });

  test("is not there without the API, for other addresses, or without pages for browsers", async () => {
    for (const env of [{ ADMIN: "off" }, { ADMIN_ALLOWED_ADDRESSES: "192.0.2.0/24" }, { HOST: "0.0.0.0" }]) {
      await using without = await startServer({ env });
      const url = without.url.replace("0.0.0.0", "127.0.0.1");
      for (const path of ["/admin/", "/admin", "/admin/assets/app.js"]) {
        assert.equal((await fetch(url + path, { redirect: "manual" })).status, 404, JSON.stringify(env));
      }
    }
  });

  test("has at most 80 KiB, compressed", async () => {
    const { scripts, style } = await bundlePage();
    for (const [language, script] of Object.entries(scripts)) {
      const bytes = gzipSync(script, { level: 9 }).length + gzipSync(style, { level: 9 }).length;
      assert.ok(bytes <= MOST_BYTES, `${bytes} bytes in ${language}`);
    }
  });
});
