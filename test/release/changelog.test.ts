import assert from "node:assert/strict";
import { test } from "node:test";
import { changelogHas } from "../../scripts/release/changelog.ts";

test("a release is in the changelog if a heading is its version, with or without a date", () => {
  const text = "# Changelog\n\n## Unreleased\n\n## 1.2.30\n\n- Like 1.2.0.\n\n## 1.1.0 (2026-11-26)\n";
  const versions = ["1.2.30", "1.1.0", "1.2.3", "1.2.0"];
  assert.deepEqual(
    versions.map((version) => changelogHas(version, text)),
    [true, true, false, false],
  );
});
