import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { trimSpace } from "../../src/lib/header-value.ts";

test("only the white space of HTTP is removed", () => {
  assert.equal(trimSpace(" \ta b\t "), "a b");
  assert.equal(trimSpace(" \t "), "");
  for (const other of ["\u00a0", "\u000b", "\u000c", "\u0085", "\ufeff", "\n", "\r"])
    assert.equal(trimSpace(`${other}a${other}`), `${other}a${other}`);
});

// These read settings, files and pages, and no request; or take off all that some back end would take off.
const OTHERS = [
  "auth/access/path.ts",
  "auth/browser/html.ts",
  "webhook/addresses/address-lists.ts",
  "webhook/signature/public-key.ts",
  "webhook/signature/sign.ts",
];

test("no other trim is used where requests are read", () => {
  const src = join(import.meta.dirname, "../../src");
  const files = ["http", "auth", "webhook", "admin/host", "worker/handlers"].flatMap((folder) =>
    readdirSync(join(src, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  const trimming = files.filter(
    (file) => file.endsWith(".ts") && /\.trim(?:Start|End)?\(\)/.test(readFileSync(join(src, file), "utf8")),
  );
  assert.deepEqual(trimming.sort(), OTHERS);
});
