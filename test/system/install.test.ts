import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { tarGz } from "../../scripts/build/archive.ts";
import { ownTarget } from "../../scripts/build/targets.ts";
import { needsMinisign } from "../helpers/back-end.ts";
import { runProgram } from "../helpers/command.ts";
import { workingDir } from "../helpers/working-dir.ts";

const NAME = `authserve-1.2.3-${ownTarget().name}`;
const template = readFileSync(join(import.meta.dirname, "../../scripts/release/install.sh"), "utf8");

const minisign = (...args: string[]) => execFileSync("minisign", args, { stdio: "ignore" });

function makeKey(dir: string): { secret: string; key: string } {
  const [secret, file] = [join(dir, "key"), join(dir, "key.pub")];
  minisign("-GW", "-s", secret, "-p", file);
  return { secret, key: readFileSync(file, "utf8").split("\n")[1] ?? "" };
}

/** A release with an archive for this machine, and the folder that it is installed into. */
function makeRelease({ isSigned = true } = {}) {
  const dir = workingDir();
  const folder = join(dir, "release");
  const prefix = join(dir, "prefix");
  mkdirSync(folder);
  const { secret, key } = makeKey(dir);
  const program = { path: `${NAME}/authserve`, content: Buffer.from("#!/bin/sh\necho 1.2.3\n"), executable: true };
  const archive = tarGz([program]);
  writeFileSync(join(folder, `${NAME}.tar.gz`), archive);
  const sum = (file: string) => `${createHash("sha256").update(archive).digest("hex")}  ${file}\n`;
  const sign = (text: string) => {
    writeFileSync(join(folder, "SHA256SUMS"), text);
    minisign("-S", "-s", secret, "-m", join(folder, "SHA256SUMS"));
  };
  sign(sum(`${NAME}.tar.gz`));
  const script = template.replace("@VERSION@", "1.2.3").replace("@KEY@", isSigned ? key : "");
  writeFileSync(join(folder, "install.sh"), script);
  const install = (...args: string[]) =>
    runProgram("sh", [join(folder, "install.sh"), "--prefix", prefix, ...args], { dir });
  const installed = () => readdirSync(dir).includes("prefix");
  return { dir, folder, prefix, key, sum, sign, install, installed };
}

suite("install.sh", needsMinisign(), () => {
  test("installs a program that is signed and complete, and changes nothing else", async () => {
    const { prefix, install } = makeRelease();
    const { code, stdout, stderr } = await install();
    assert.deepEqual([code, stdout, stderr], [0, `installed ${prefix}/bin/authserve\n`, ""]);
    assert.deepEqual(readdirSync(prefix, { recursive: true }), ["bin", "bin/authserve"]);
    assert.equal(execFileSync(join(prefix, "bin/authserve"), { encoding: "utf8" }), "1.2.3\n");
  });

  test("refuses checksums that another key signed", async () => {
    const { install, installed } = makeRelease();
    const { code, stderr } = await install("--public-key", makeKey(workingDir()).key);
    assert.equal(code, 1);
    assert.match(stderr, /SHA256SUMS is not signed by the key of the release; nothing was installed/);
    assert.ok(!installed());
  });

  test("refuses checksums that were changed after they were signed", async () => {
    const { folder, sum, install, installed } = makeRelease();
    writeFileSync(join(folder, "SHA256SUMS"), `${sum(`${NAME}.tar.gz`)}\n`);
    assert.match((await install()).stderr, /SHA256SUMS is not signed/);
    assert.ok(!installed());
  });

  test("refuses an archive that differs from its checksum", async () => {
    const { folder, install, installed } = makeRelease();
    writeFileSync(join(folder, `${NAME}.tar.gz`), "other bytes");
    const { code, stderr } = await install();
    assert.equal(code, 1);
    assert.match(stderr, /does not have its checksum; nothing was installed/);
    assert.ok(!installed());
  });

  test("refuses checksums of another version, although they are signed", async () => {
    const { sum, sign, install, installed } = makeRelease();
    sign(sum(NAME.replace("1.2.3", "1.2.2")));
    assert.match((await install()).stderr, /SHA256SUMS does not list authserve-1\.2\.3-/);
    assert.ok(!installed());
  });

  test("an unsigned release needs the key of its builder", async () => {
    const { key, install, installed } = makeRelease({ isSigned: false });
    assert.match((await install()).stderr, /this release is not signed/);
    assert.ok(!installed());
    assert.equal((await install("--public-key", key)).code, 0);
  });

  test("takes the files from another folder, and names one that is missing", async () => {
    const { dir, folder, install, installed } = makeRelease();
    mkdirSync(join(dir, "elsewhere"));
    for (const file of ["SHA256SUMS", "SHA256SUMS.minisig"])
      renameSync(join(folder, file), join(dir, "elsewhere", file));
    const lacking = await install("--from", join(dir, "elsewhere"));
    assert.match(lacking.stderr, new RegExp(`elsewhere/${NAME}\\.tar\\.gz cannot be read`));
    assert.ok(!installed());
    renameSync(join(folder, `${NAME}.tar.gz`), join(dir, "elsewhere", `${NAME}.tar.gz`));
    assert.equal((await install("--from", join(dir, "elsewhere"))).code, 0);
  });

  test("elsewhere than on Linux, it and the launcher of the npm package say what to run instead", async () => {
    const { dir, folder, installed } = makeRelease();
    writeFileSync(join(dir, "uname"), "#!/bin/sh\necho Darwin\n", { mode: 0o755 });
    const env = { PATH: `${dir}:${process.env.PATH}` };
    const launcher = join(import.meta.dirname, "../../scripts/release/npm/authserve");
    for (const script of [join(folder, "install.sh"), launcher]) {
      const { code, stderr } = await runProgram("sh", [script], { dir, env });
      assert.equal(code, 1);
      assert.match(stderr, /^\w+: there is no \w+ for Darwin[:;] run the container image, or this in a Linux/);
    }
    assert.ok(!installed());
  });

  test("an unknown option prints the usage and installs nothing", async () => {
    const { install, installed } = makeRelease();
    const { code, stderr } = await install("--help");
    assert.equal(code, 2);
    assert.match(stderr, /^Installs authserve from the archive of a release/);
    assert.ok(!installed());
  });
});
