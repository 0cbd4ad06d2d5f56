import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { archiveName, assertSum, executableIn, RELEASE_KEYS, signedSums } from "../../scripts/build/official-node.ts";
import type { Target } from "../../scripts/build/targets.ts";
import { needsGpg } from "../helpers/back-end.ts";
import { workingDir } from "../helpers/working-dir.ts";

const TARGET = { cpu: "x64" } as Target;
const NAME = archiveName(TARGET, "24.0.0");

suite("the official release of Node", needsGpg(), () => {
  const dir = workingDir();
  const home = mkdtempSync(join(dir, "gpg-"));
  const archive = join(dir, NAME);
  let fingerprint = "";
  let key = "";
  let signed = "";

  function gpg(input: string, ...args: string[]): string {
    const always = ["--homedir", home, "--batch", "--quiet", "--passphrase", ""];
    return execFileSync("gpg", [...always, ...args], { encoding: "utf8", input, stdio: ["pipe", "pipe", "pipe"] });
  }

  const sumsOf = (text: string, fingerprints = [fingerprint]) =>
    signedSums(text, [key], fingerprints, mkdtempSync(join(dir, "verify-")));

  before(() => {
    const folder = join(dir, "node-v24.0.0-linux-x64/bin");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "node"), "the executable");
    execFileSync("tar", ["-czf", archive, "-C", dir, "node-v24.0.0-linux-x64"]);
    gpg("", "--quick-gen-key", "releaser@example.com", "ed25519", "sign", "never");
    fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(gpg("", "--with-colons", "--list-keys"))?.[1] ?? "";
    key = gpg("", "--armor", "--export", fingerprint);
    const sum = createHash("sha256").update(readFileSync(archive)).digest("hex");
    signed = gpg(`${sum}  ${NAME}\n${"0".repeat(64)}  other\n`, "--clearsign");
  });

  test("is what a releaser's checksums name, and holds the executable", () => {
    const sums = sumsOf(signed);
    assert.deepEqual([...sums.keys()], [NAME, "other"]);
    assertSum(archive, NAME, sums);
    assert.equal(executableIn(archive, TARGET, "24.0.0").toString(), "the executable");
  });

  test("is refused when anybody else has signed its checksums, or they were changed", () => {
    assert.throws(() => sumsOf(signed, [...RELEASE_KEYS]), /signed by [0-9A-F]{40}, not by a release key of Node/);
    assert.throws(() => sumsOf(signed.replace("other", "0ther")), /not signed by a known key/);
    assert.throws(() => sumsOf(`${"0".repeat(64)}  ${NAME}\n`), /not signed by a known key/);
  });

  test("is refused when it is another file than the checksums name, or of another version", () => {
    const other = join(dir, "other.tar.gz");
    writeFileSync(other, "another archive");
    assert.throws(() => assertSum(other, NAME, sumsOf(signed)), /has the SHA-256 .* but the release lists/);
    assert.throws(() => executableIn(archive, TARGET, "24.0.1"), /name the official archive node-v24\.0\.1-linux-x64/);
  });
});
