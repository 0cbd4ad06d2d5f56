import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compareWith, readProvenance, textOf } from "../../src/cli/version.ts";
import { workingDir } from "../helpers/working-dir.ts";

const RELEASE = { version: "0.10.0", commit: "c0ffee", digests: { "authserve-0.10.0-linux-x64/authserve": "aa" } };

for (const [own, sha256, result] of [
  ["0.10.0", "aa", "same"],
  ["0.10.0", "bb", "changed"],
  ["0.10.0", null, "same"],
  ["0.9.0", "aa", "newer"],
  ["0.11.0", "aa", "older"],
] as const) {
  test(`a program ${own} with the digest ${sha256} compares as ${result} with the release 0.10.0`, () => {
    assert.equal(compareWith(RELEASE, own, sha256), result);
  });
}

test("a program of a release says how to build the same, unless files differed from the commit", () => {
  const file = join(workingDir(), "provenance.json");
  const textFor = (isModified: boolean) => {
    const externalParameters = { version: "0.10.0", isModified };
    const resolvedDependencies = [{ digest: { gitCommit: "c0ffee" } }, { digest: { sha256: "bb" } }];
    const predicate = { buildDefinition: { externalParameters, resolvedDependencies } };
    writeFileSync(file, JSON.stringify({ subject: [], predicate }));
    return textOf("same", "0.10.0", readProvenance(file), true);
  };
  const sentence = "This program is 0.10.0 of the release, byte for byte.";
  const command = "git checkout c0ffee && npm ci && npm run build:binary";
  assert.equal(textFor(false), `${sentence}\nAnybody can build the same: ${command}`);
  assert.equal(textFor(true), sentence);
});

test("a file that is not the provenance of a release is refused by name", () => {
  const file = join(workingDir(), "SHA256SUMS");
  assert.throws(() => readProvenance(file), /SHA256SUMS cannot be read \(ENOENT\)/);
  writeFileSync(file, '{"subject":[],"predicate":{"buildDefinition":{"externalParameters":{}}}}');
  assert.throws(() => readProvenance(file), /is not a provenance file/);
});
