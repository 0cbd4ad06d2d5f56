import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createRecentRefusals } from "../../src/webhook/intake/refusals.ts";
import { strayFinder } from "../../src/webhook/strays.ts";
import { sourceIn } from "../helpers/config-file.ts";

const GITHUB = { ...sourceIn("{ preset: github, secrets: [env:SECRET] }"), path: "/hooks/github" };
const STRIPE = { ...sourceIn("{ preset: stripe, secrets: [env:SECRET] }"), path: "/stripe" };

const find = strayFinder([GITHUB, STRIPE], ["/admin/api/events", "/login", "/"]);
const strayAt = (path: string, headers = {}, method = "POST") => find({ method, path, headers });

suite("a request to a path that no source has", () => {
  for (const [what, path, headers, near] of [
    ["a letter is missing", "/hooks/gihub", {}, "/hooks/github"],
    ["a slash is too much", "/stripe/", {}, "/stripe"],
    ["only the beginning is right", "/hooks/something-else", {}, null],
    ["its header is that of one source", "/somewhere", { "stripe-signature": "t=1" }, "/stripe"],
    ["its header is that of one source, at the root", "/", { "x-hub-signature-256": "a" }, "/hooks/github"],
  ] as const) {
    test(`is kept: ${what}`, () => assert.deepEqual(strayAt(path, headers), { path, near }));
  }

  for (const [what, path, headers, method] of [
    ["it is far from all", "/wp-login.php", {}, "POST"],
    ["it only has credentials", "/wp-login.php", { authorization: "Basic YTpi" }, "POST"],
    ["no delivery has its method", "/hooks/gihub", {}, "GET"],
    ["the API has such paths", "/admin/stripe", { "stripe-signature": "t=1" }, "POST"],
    ["it is too long", `/hooks/${"x".repeat(300)}`, {}, "POST"],
  ] as const) {
    test(`is not kept: ${what}`, () => assert.equal(strayAt(path, headers, method), null));
  }

  test("does not show what may be a secret in it", () => {
    const source = { ...GITHUB, path: "/hooks/shop", schemes: [{ type: "token", path: true }] } as const;
    const stray = strayFinder([source], [])({ method: "POST", path: "/hooks/shpo/t0k3n", headers: {} });
    assert.deepEqual(stray, { path: "/hooks/…/…", near: "/hooks/shop/…" });
  });

  for (const [path, shown, near] of [
    ["/hooks/kofi&token=hunter2", "/hooks/kofi…", "/hooks/kofi"],
    ["/hooks/kofi%3Ftoken=hunter2", "/hooks/kofi…", "/hooks/kofi"],
    ["/hooks/kofi/hunter2", "/hooks/kofi/…", null],
  ] as const)
    test(`does not show a secret of the query in ${path}`, () => {
      const source = { ...GITHUB, path: "/hooks/kofi", schemes: [{ type: "token", query: "token" }] } as const;
      assert.deepEqual(strayFinder([source], [])({ method: "POST", path, headers: {} }), { path: shown, near });
    });
});

test("paths that no source has are kept once each, and do not push out other refusals", () => {
  let now = 0;
  const { add, list } = createRecentRefusals(() => ++now);
  add({ source: "github", reason: "no_signature", address: "192.0.2.1" });
  for (let i = 0; i < 1000; i++)
    add({ source: null, reason: "not_found", address: "192.0.2.2", path: `/hooks/${i % 500}` });
  assert.equal(list().length, 21);
  assert.equal(new Set(list().map(({ path }) => path)).size, 21);
  assert.deepEqual(list().at(-1), {
    ...{ receivedAt: 1, source: "github", reason: "no_signature", address: "192.0.2.1" },
    ...{ path: null, near: null },
  });
  add({ source: null, reason: "not_found", address: "192.0.2.3", path: "/hooks/490" });
  assert.deepEqual([list().length, list()[0]?.address], [21, "192.0.2.3"]);
});
