import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { replaceFile } from "../../src/lib/files.ts";
import { tempDir } from "../helpers/temp-dir.ts";

suite("replacing a file", () => {
  for (const flush of [false, true]) {
    test(`writes its content and mode, ${flush ? "" : "not "}flushed, and leaves nothing else`, (t) => {
      const dir = tempDir(t);
      const file = join(dir, "a");
      writeFileSync(file, "old and longer", { mode: 0o644 });
      replaceFile(file, "new", { mode: 0o600, flush });
      assert.deepEqual([readFileSync(file, "utf8"), statSync(file).mode & 0o777], ["new", 0o600]);
      replaceFile(join(dir, "b"), Buffer.from([0xff]), { mode: 0o600, flush });
      assert.deepEqual(readdirSync(dir).sort(), ["a", "b"]);
    });
  }

  test("that cannot be replaced throws and leaves nothing else", (t) => {
    const dir = tempDir(t);
    mkdirSync(join(dir, "a/b"), { recursive: true });
    assert.throws(() => replaceFile(join(dir, "a"), "new", { mode: 0o600, flush: false }), /EISDIR|ENOTEMPTY|EEXIST/);
    assert.deepEqual(readdirSync(dir), ["a"]);
  });
});
