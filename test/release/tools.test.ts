import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TOOLS } from "../../scripts/release/tools.ts";
import { workingDir } from "../helpers/working-dir.ts";

const ROOT = join(import.meta.dirname, "../..");

/** What every Linux has. */
const EVERYWHERE = ["find", "md5sum", "tar"];

function release(path: string, ...args: string[]) {
  const dir = workingDir();
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, "scripts/release.ts"), "--out", join(dir, "out"), ...args],
    { env: { PATH: path }, encoding: "utf8" },
  );
  return { status, stderr, made: readdirSync(dir) };
}

test("a release without its tools is refused before anything is made, with their packages", () => {
  const { status, stderr, made } = release(workingDir(), "--target", "linux-x64", "--sign", "minisign.key");
  assert.equal(
    stderr,
    "error: this release needs git, npm, dpkg-deb, rpmbuild, apt-get, buildah, minisign\n" +
      "  hint: apt-get install git npm dpkg rpm apt buildah minisign\n",
  );
  assert.deepEqual([status, made], [2, []]);
});

test("only an image needs buildah, and a file that is not there is refused as early", () => {
  const programs = workingDir();
  for (const { name } of TOOLS) if (name !== "buildah") symlinkSync("/bin/true", join(programs, name));
  const args = ["--target", "linux-x64", "--executable", "none"];
  assert.match(
    release(programs, ...args).stderr,
    /needs buildah\n {2}hint: apt-get install buildah; or make no image with --without-image\n$/,
  );
  const { status, stderr, made } = release(programs, ...args, "--without-image");
  assert.match(stderr, /^error: there is no file none\n/);
  assert.deepEqual([status, made], [2, []]);
});

test("the tools are all that a release runs, and docs/architecture.md names their packages", () => {
  const folder = join(ROOT, "scripts/release");
  const code = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const run = code.flatMap((name) =>
    Array.from(
      readFileSync(join(folder, name), "utf8").matchAll(/execFileSync\("([^"/]+)"/g),
      ([, program]) => program,
    ),
  );
  const programs = TOOLS.map(({ name }) => name);
  assert.deepEqual([...new Set(run)].sort(), [...programs, ...EVERYWHERE].sort());
  const [, named = ""] =
    /^ {4}apt-get install (.*)$/m.exec(readFileSync(join(ROOT, "docs/architecture.md"), "utf8")) ?? [];
  assert.deepEqual(named.split(" ").sort(), [...new Set(TOOLS.map((tool) => tool.package))].sort());
});
