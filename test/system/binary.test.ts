import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { PROVIDER_NAMES } from "../../src/webhook/providers/index.ts";
import { needs } from "../helpers/back-end.ts";
import { BINARY, binaryIsMissing, runBinary } from "../helpers/binary.ts";
import { ask, deliver, event, logIn, me } from "../helpers/client.ts";
import { runProgram, startProgram } from "../helpers/command.ts";
import { settings } from "../helpers/server.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";

const isRoot = process.getuid?.() === 0;
const onOwnFileSystem = needs("a file system of its own", () => isRoot, "mounting one needs root");

/** Hashing a password loads the argon2 add-on. */
const hash = (dir: string, env: Record<string, string>) =>
  runBinary(["hash-password"], { dir, env, input: "correct horse" });

/** A small separate file system that is removed when the test ends. */
function mountTmpfs(context: TestContext, options: string): string {
  const dir = mkdtempSync(join(tmpdir(), "authserve-mount-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `mode=0700,${options}`, "tmpfs", dir]);
  context.after(() => {
    execFileSync("umount", ["-l", dir]);
    rmdirSync(dir);
  });
  return dir;
}

/** The newest symbol versions of system libraries that the add-ons need: those of glibc 2.34 and GCC 11. */
const NEWEST = { GLIBC: "GLIBC_2.34", GLIBCXX: "GLIBCXX_3.4.29" };

const byVersion = (one: string, other: string) => one.localeCompare(other, "en", { numeric: true });

const ownLibstdcxx =
  process.platform === "linux" ? loadedLibraries().find((path) => /libstdc\+\+/.test(path)) : undefined;

const inGlibc = needs("an older libstdc++", () => ownLibstdcxx !== undefined, "it needs Linux with glibc");

function loadedLibraries(): string[] {
  return (process.report.getReport() as unknown as { sharedObjects: string[] }).sharedObjects;
}

/** Writes a libstdc++ without a symbol version, like an older one, into a directory: the version is renamed. */
function olderCopy(version: string, dir: string): void {
  const text = readFileSync(ownLibstdcxx ?? "", "latin1");
  const older = text.replaceAll(`\0${version}\0`, `\0${version.replace(/[0-9]/g, "0")}\0`);
  writeFileSync(join(dir, "libstdc++.so.6"), older, "latin1");
}

suite("the single binary", { skip: binaryIsMissing() }, () => {
  test("--version and --help unpack nothing", async (context) => {
    const dir = tempDir(context);
    const env = { HOME: dir, TMPDIR: dir };
    for (const args of [["--version"], ["--help"], ["events", "--help"]]) {
      assert.equal((await runBinary(args, { dir, env })).code, 0);
    }
    assert.deepEqual(readdirSync(dir), []);
  });

  test("it has each provider of the checkout", async (context) => {
    const dir = tempDir(context);
    const { code, stdout } = await runBinary(["sources", "presets", "--json"], { dir });
    assert.equal(code, 0);
    assert.deepEqual(
      (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name),
      PROVIDER_NAMES,
    );
  });

  test("it serves: login, page, signed delivery, replay, SIGTERM", async (context) => {
    const dir = tempDir(context);
    const env = { ...settings(dir), ADDON_DIR: join(dir, "addons") };
    const command = startProgram(BINARY, ["serve"], { dir, env });
    context.after(() => void command.child.kill("SIGKILL"));
    const url = await until(() => /"url":"([^"]+)"/.exec(command.stdout())?.[1]);
    const token = await logIn({ url });
    assert.equal((await me({ url }, token)).status, 200);
    const page = await ask({ url }, "/admin/", { headers: { Authorization: `Bearer ${token}` } });
    const [script] = /assets\/app-\w+\.js/.exec(page.text) ?? [];
    assert.match((await ask({ url }, `/admin/${script}`)).text, /admin|overview/i);
    assert.equal((await deliver({ url }, event("evt_binary"))).status, 200);
    const run = (...args: string[]) => runBinary(args, { dir, env });
    await until(async () => (await run("events", "stats", "--json")).stdout.includes('"processed":1'));
    assert.equal((await run("events", "replay", "evt_binary", "--force")).code, 0);
    await until(async () => (await run("events", "show", "evt_binary", "--json")).stdout.includes('"attempts":2'));
    command.child.kill("SIGTERM");
    assert.deepEqual(await command.exited, { code: 0, signal: null });
  });

  test("selftest crash kills and restarts it, and loses nothing", async (context) => {
    const dir = tempDir(context);
    const env = { ADDON_DIR: join(dir, "addons") };
    const command = startProgram(BINARY, ["selftest", "crash", "--rounds", "2"], { dir, env });
    const { code } = await command.exited;
    assert.equal(code, 0, command.stderr());
    assert.deepEqual(readdirSync(join(dir, "data")), []);
  });

  test("it runs modules of routes, which may import files and packages", async (context) => {
    const dir = tempDir(context);
    const file = (name: string, text: string) => {
      mkdirSync(join(dir, name, ".."), { recursive: true });
      writeFileSync(join(dir, name), text);
    };
    file("node_modules/a-package/package.json", '{ "name": "a-package", "main": "index.js" }');
    file("node_modules/a-package/index.js", 'exports.name = "a package";');
    file("lib/other.mjs", 'import { basename } from "node:path"; export const other = basename("a/file");');
    file(
      "code.mjs",
      'import { name } from "a-package"; import { other } from "./lib/other.mjs"; export default ({ id }) => [id, name, other].join();',
    );
    file("authserve.yaml", "routes: [{ name: code, module: { file: ./code.mjs } }]");
    const env = { ...settings(dir), ADDON_DIR: join(dir, "addons") };
    const command = startProgram(BINARY, ["serve"], { dir, env });
    context.after(() => void command.child.kill("SIGKILL"));
    const url = await until(() => /"url":"([^"]+)"/.exec(command.stdout())?.[1]);
    assert.equal((await deliver({ url }, event("evt_module"))).status, 200);
    const shown = async () => (await runBinary(["events", "show", "evt_module", "--json"], { dir, env })).stdout;
    await until(async () => /"response":"evt_module,a package,file"/.test(await shown()));
    command.child.kill("SIGTERM");
    assert.deepEqual(await command.exited, { code: 0, signal: null });
  });

  test("files of the working directory that are called like its parts are not run", async (context) => {
    const dir = tempDir(context);
    const planted = `require("node:fs").writeFileSync(${JSON.stringify(join(dir, "ran"))}, "")`;
    for (const file of ["authserve.cjs", "index.js", "argon2.node", "node_modules/@node-rs/argon2/index.js"]) {
      mkdirSync(join(dir, file, ".."), { recursive: true });
      writeFileSync(join(dir, file), planted);
    }
    writeFileSync(join(dir, "package.json"), '{ "main": "index.js" }');
    writeFileSync(join(dir, ".env"), `NODE_OPTIONS=--require=${join(dir, "index.js")}\n`, { mode: 0o600 });
    const { code, stderr } = await hash(dir, { HOME: dir, NODE_PATH: join(dir, "node_modules") });
    assert.equal(code, 0, stderr);
    assert.equal(existsSync(join(dir, "ran")), false);
  });

  test("the add-ons are in a directory and files that only the user can access", async (context) => {
    const dir = tempDir(context);
    assert.equal((await hash(dir, { ADDON_DIR: join(dir, "addons") })).code, 0);
    assert.equal(statSync(join(dir, "addons")).mode & 0o777, 0o700);
    for (const file of readdirSync(join(dir, "addons"))) {
      assert.equal(statSync(join(dir, "addons", file)).mode & 0o777, 0o600, file);
    }
  });

  test("without a home directory they are unpacked below DATA_DIR", async (context) => {
    const dir = tempDir(context);
    assert.equal((await hash(dir, { DATA_DIR: join(dir, "data") })).code, 0);
    assert.ok(readdirSync(join(dir, "data/addons")).some((file) => file.startsWith("argon2-")));
  });

  for (const [what, plant] of [
    ["other content", (file: string) => writeFileSync(file, readFileSync(file).fill(0, 0, 4096))],
    ["a cut end", (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 1000))],
    [
      "a symbolic link",
      (file: string) => {
        writeFileSync(`${file}.elsewhere`, readFileSync(file));
        execFileSync("rm", [file]);
        symlinkSync(`${file}.elsewhere`, file);
      },
    ],
  ] as const) {
    test(`a planted file with ${what} is replaced and reported before it runs`, async (context) => {
      const dir = tempDir(context);
      const addons = join(dir, "addons");
      await hash(dir, { ADDON_DIR: addons });
      const file = join(addons, readdirSync(addons).find((name) => name.startsWith("argon2-")) ?? "");
      const genuine = readFileSync(file);
      plant(file);
      const { code, stdout, stderr } = await hash(dir, { ADDON_DIR: addons });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^\$argon2id\$/);
      assert.match(stderr, /argon2-[0-9a-f]+\.node .*: it was replaced/);
      assert.ok(readFileSync(file).equals(genuine));
    });
  }

  test("a directory that others can write is refused by name and not used", async (context) => {
    const dir = tempDir(context);
    const addons = join(dir, "addons");
    mkdirSync(addons);
    chmodSync(addons, 0o777);
    const { code, stdout, stderr } = await hash(dir, { ADDON_DIR: addons });
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /addons \(ADDON_DIR\): can be written by other users/);
    assert.match(stderr, /set ADDON_DIR to a directory that only this user can write/);
    assert.deepEqual(readdirSync(addons), []);
  });

  test("a directory below one that others can write is refused", async (context) => {
    const dir = tempDir(context);
    mkdirSync(join(dir, "shared"));
    chmodSync(join(dir, "shared"), 0o777);
    const { code, stderr } = await hash(dir, { ADDON_DIR: join(dir, "shared/addons") });
    assert.equal(code, 2);
    assert.match(stderr, /lies below .*shared, which other users can write/);
  });

  test("a directory of another user is refused", onOwnFileSystem, async (context) => {
    const dir = tempDir(context);
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, "addons"), { mode: 0o755 });
    execFileSync("chown", ["65534", join(dir, "addons")]);
    const { code, stderr } = await hash(dir, { ADDON_DIR: join(dir, "addons") });
    assert.equal(code, 2);
    assert.match(stderr, /belongs to another user/);
  });

  test("doctor ignores add-ons that another user has unpacked", onOwnFileSystem, async (context) => {
    const dir = tempDir(context);
    const env = { ...settings(dir), HOME: join(dir, "home") };
    mkdirSync(join(dir, "data"), { mode: 0o700 });
    assert.equal((await hash(dir, { ...env, ADDON_DIR: join(dir, "data/addons") })).code, 0);
    execFileSync("chown", ["-R", "65534", join(dir, "data/addons")]);
    const { stdout } = await runBinary(["doctor", "--json"], { dir, env });
    const findings = JSON.parse(stdout) as { check: string; verdict: string }[];
    assert.deepEqual(
      findings.filter(({ check, verdict }) => verdict === "wrong" && /add-ons|database/.test(check)),
      [],
      stdout,
    );
  });

  test("a noexec directory is reported, and another one is used if possible", onOwnFileSystem, async (context) => {
    const dir = tempDir(context);
    const noexec = mountTmpfs(context, "noexec");
    const refused = await hash(dir, { ADDON_DIR: join(noexec, "addons") });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /addons \(ADDON_DIR\)/);
    assert.match(refused.stderr, /without noexec/);
    const accepted = await hash(dir, { HOME: noexec, DATA_DIR: join(dir, "data") });
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.ok(readdirSync(join(dir, "data/addons")).length > 0);
  });

  test("a full disk is reported and leaves no partial file", onOwnFileSystem, async (context) => {
    const dir = tempDir(context);
    const full = mountTmpfs(context, "size=64k");
    const { code, stderr } = await hash(dir, { ADDON_DIR: join(full, "addons") });
    assert.equal(code, 1);
    assert.match(stderr, /ENOSPC/);
    assert.deepEqual(readdirSync(join(full, "addons")), []);
  });

  test("a system too old for the add-ons is reported, and no other directory is tried", inGlibc, async (context) => {
    const dir = tempDir(context);
    olderCopy(NEWEST.GLIBCXX, dir);
    const env = { ...settings(dir), LD_LIBRARY_PATH: dir, HOME: join(dir, "home") };
    const { code, stderr } = await runBinary(["serve"], { dir, env });
    assert.equal(code, 2);
    assert.match(stderr, /^error: The native add-ons cannot be loaded:\n {2}.*GLIBCXX_.* not found/);
    assert.match(stderr, /\n {2}this system is too old: [^\n]* needs glibc [0-9.]+ [^\n]*\n$/);
    const { stdout } = await runBinary(["doctor", "--json"], { dir, env });
    const found = (JSON.parse(stdout) as { check: string; remedy: string | null }[]).find(
      ({ check }) => check === "add-ons",
    );
    assert.match(found?.remedy ?? "", /^this system is too old: /);
    assert.ok(!existsSync(join(dir, "data/addons")));
  });

  test("it needs no newer system libraries than documented", inGlibc, () => {
    const binary = readFileSync(BINARY, "latin1");
    for (const [library, newest] of Object.entries(NEWEST)) {
      const found = [...binary.matchAll(new RegExp(`\0${library}_([0-9.]+)(?=\0)`, "g"))].map(
        (match) => match[1] ?? "",
      );
      assert.equal(`${library}_${found.sort(byVersion).at(-1)}`, newest);
    }
    for (const file of ["README.md", "docs/operate.md"]) {
      const text = readFileSync(join(import.meta.dirname, "../..", file), "utf8").replaceAll(/\s+/g, " ");
      assert.match(text, /glibc 2\.34 .*GCC 11/, file);
    }
  });

  test("a file left by an earlier process with the same id does not stop it", async (context) => {
    const dir = tempDir(context);
    const env = { ADDON_DIR: join(dir, "addons") };
    await hash(dir, env);
    const file = join(dir, "addons", readdirSync(env.ADDON_DIR).find((name) => name.startsWith("argon2-")) ?? "");
    rmSync(file);
    const script = ': >"$0.$$"; exec "$1" hash-password';
    const { code, stderr } = await runProgram("sh", ["-c", script, file, BINARY], { dir, env, input: "correct horse" });
    assert.equal(code, 0, stderr);
  });

  test("doctor reports that the add-ons cannot be unpacked, and serve reports bad settings first", async (context) => {
    const dir = tempDir(context);
    writeFileSync(join(dir, "file"), "");
    const env = { ...settings(dir), ADDON_DIR: join(dir, "file") };
    const examined = await runBinary(["doctor", "--json"], { dir, env });
    assert.equal(examined.code, 1, examined.stderr);
    const wrong = (JSON.parse(examined.stdout) as { check: string; verdict: string; found: string }[]).filter(
      ({ verdict }) => verdict === "wrong",
    );
    assert.deepEqual(
      wrong.map(({ check }) => check),
      ["add-ons", "database"],
    );
    assert.match(wrong[0]?.found ?? "", /file \(ADDON_DIR\): cannot be created/);

    const refused = await runBinary(["serve"], { dir, env: { ...env, PORT: "none", JWT_TTL: "0s" } });
    assert.equal(refused.code, 2);
    for (const name of ["JWT_TTL", "PORT"]) assert.match(refused.stderr, new RegExp(`^error: ${name} `, "m"));
    assert.equal((await runBinary(["serve"], { dir, env })).code, 2);
    const well = await runBinary(["doctor", "--json"], { dir, env: { ...env, ADDON_DIR: join(dir, "addons") } });
    assert.equal(well.code, 0, well.stdout);
  });
});
