import assert from "node:assert/strict";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { readEnvironment } from "../../../src/config/env-file.ts";
import { NOBODY, needsMount, needsOtherUser } from "../../helpers/back-end.ts";
import { deliver, logIn, me } from "../../helpers/client.ts";
import { authserve, EXECUTABLE, runProgram, startProgram } from "../../helpers/command.ts";
import { EMAIL, PASSWORD_HASH } from "../../helpers/credentials.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { signature } from "../../helpers/sign.ts";
import { fill, mountSmallDisk } from "../../helpers/small-disk.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

// Settings that are removed from the environment, so that they come from .env.
const FROM_FILE = { JWT_SECRET: undefined, DEMO_EMAIL: undefined, DEMO_PASSWORD: undefined, WEBHOOK_SECRET: undefined };

const passwordIn = (text: string) => /^ {2}password\s+(\S+)$/m.exec(text)?.[1] ?? "";

async function assertUsable(server: Server, email: string, password: string): Promise<void> {
  const answer = await me(server, await logIn(server, { email, password }));
  assert.equal(answer.json.email, email);
  const secret = /^WEBHOOK_SECRET='(.*)'$/m.exec(readFileSync(join(server.dir, ".env"), "utf8"))?.[1] ?? "";
  const body = '{"id":"init","type":"order.paid"}';
  assert.equal((await deliver(server, body, { "X-Signature": signature(body, secret) })).status, 200);
}

test("init writes .env for its owner only, prints the password, and a server starts with it", async () => {
  const dir = workingDir();
  const { code, stdout, stderr } = await authserve(["init", "--email", "ana@example.com"], { dir });
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "");
  assert.equal(statSync(join(dir, ".env")).mode & 0o777, 0o600);
  const password = passwordIn(stderr);
  assert.ok(password.length >= 16);
  assert.ok(!readFileSync(join(dir, ".env"), "utf8").includes(password));
  await using server = await startServer({ dir, env: FROM_FILE });
  await assertUsable(server, "ana@example.com", password);
});

test("init --json prints the password as data", async () => {
  const dir = workingDir();
  const { code, stdout, stderr } = await authserve(["init", "--email", "ana@example.com", "--json"], { dir });
  assert.deepEqual([code, stderr], [0, ""]);
  const { file, email, password } = JSON.parse(stdout) as Record<string, string>;
  assert.deepEqual([file, email], [join(realpathSync(dir), ".env"), "ana@example.com"]);
  await using server = await startServer({ dir, env: FROM_FILE });
  await assertUsable(server, "ana@example.com", password ?? "");
});

test("serve --init writes no settings that the environment has, and reports those in use", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "jwt"), `${"4f1c-9a7e-".repeat(3)}of-a-file`);
  const env = { ...FROM_FILE, JWT_SECRET_FILE: join(dir, "jwt"), DEMO_EMAIL: EMAIL, DEMO_PASSWORD: PASSWORD_HASH };
  await using server = await startServer({ dir, env, args: ["--init"] });
  assert.deepEqual(readFileSync(join(dir, ".env"), "utf8").match(/^[A-Z_]+(?==)/gm), ["JWT_TTL", "WEBHOOK_SECRET"]);
  assert.match(server.stderr(), new RegExp(`user +${EMAIL}\\n +password +as set in the environment\\n`));
  await until(() => server.stderr().includes(" YOUR-PASSWORD |"));
  await logIn(server);
});

test("serve --init makes INITIAL_PASSWORD the password at the first start only, and refuses a short one", async () => {
  const dir = workingDir();
  const envWith = (password: string) => ({ ...FROM_FILE, DEMO_EMAIL: EMAIL, INITIAL_PASSWORD: password });
  const { code, stderr } = await authserve(["serve", "--init"], { dir, env: { ...envWith("short"), PORT: "0" } });
  assert.deepEqual([code, existsSync(join(dir, ".env"))], [2, false]);
  assert.match(stderr, /INITIAL_PASSWORD must have at least 6 characters/);
  {
    await using server = await startServer({ dir, env: envWith("of the first start"), args: ["--init"] });
    await assertUsable(server, EMAIL, "of the first start");
    assert.ok(!readFileSync(join(dir, ".env"), "utf8").includes("of the first start"));
    assert.ok(!existsSync(join(dir, ".env.password")));
  }
  await using server = await startServer({ dir, env: envWith("of a later start"), args: ["--init"] });
  await assertUsable(server, EMAIL, "of the first start");
});

test("init never replaces a file, and creates new secrets each time", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, ".env"), "KEPT='as it is'\n");
  const refused = await authserve(["init"], { dir });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /\.env exists and was not changed/);
  assert.equal(readFileSync(join(dir, ".env"), "utf8"), "KEPT='as it is'\n");

  const files = [workingDir(), workingDir()];
  for (const one of files) assert.equal((await authserve(["init"], { dir: one })).code, 0);
  const [first = [], second = []] = files.map((one) => readFileSync(join(one, ".env"), "utf8").split("\n"));
  for (const name of ["JWT_SECRET", "DEMO_PASSWORD", "WEBHOOK_SECRET"]) {
    const line = first.find((text) => text.startsWith(`${name}=`));
    assert.ok(line !== undefined && !second.includes(line), name);
  }
});

test("init on a full disk leaves no partial file", needsMount(), async (t) => {
  const dir = workingDir();
  mountSmallDisk(t, join(dir, "disk"));
  fill(join(dir, "disk/filler"));
  const refused = await authserve(["init"], { dir: join(dir, "disk") });
  assert.deepEqual([refused.code, refused.stderr], [1, "error: .env cannot be written (ENOSPC)\n  hint: make space\n"]);
  rmSync(join(dir, "disk/filler"));
  assert.equal((await authserve(["init"], { dir: join(dir, "disk") })).code, 0);
  assert.deepEqual(readdirSync(join(dir, "disk")), [".env"]);
});

for (const [args, stream, redirect] of [
  ["init", "stderr", "2>/dev/full"],
  ["init --json", "stdout", ">/dev/full"],
] as const) {
  test(`${args} leaves no .env and exits 1 if it cannot print the password`, async () => {
    const dir = workingDir();
    const onFullDisk = await runProgram("sh", ["-c", `"$0" ${args} ${redirect}`, EXECUTABLE], { dir });
    assert.deepEqual([onFullDisk.code, readdirSync(dir)], [1, []]);
    const { child, exited } = startProgram(EXECUTABLE, args.split(" "), { dir });
    child[stream]?.destroy();
    assert.equal((await exited).code, 1);
    assert.deepEqual(readdirSync(dir), []);
  });
}

test("init reports that .env is a directory", async () => {
  const dir = workingDir();
  mkdirSync(join(dir, ".env"));
  const { code, stderr } = await authserve(["init"], { dir });
  assert.deepEqual([code, stderr], [1, "error: .env is a directory\n  hint: move it away first\n"]);
});

test("init and serve report an .env that is a link to a missing file", async () => {
  const dir = workingDir();
  symlinkSync("nowhere", join(dir, ".env"));
  const made = await authserve(["init"], { dir });
  assert.equal(made.code, 1);
  assert.match(made.stderr, /^error: \.env is a link to a missing file\n {2}hint: remove it/);
  const served = await authserve(["serve"], { dir });
  assert.equal(served.code, 2);
  assert.match(served.stderr, /^error: \.env is a link that leads nowhere\n {2}hint: remove it/);
});

test("init refuses an invalid e-mail address and writes nothing", async () => {
  const dir = workingDir();
  const { code, stderr } = await authserve(["init", "--email", "x' INJECTED='y"], { dir });
  assert.equal(code, 2);
  assert.match(stderr, /--email/);
  assert.throws(() => statSync(join(dir, ".env")));
});

test("init writes an address with an apostrophe so that the server reads it", async () => {
  const dir = workingDir();
  const email = "o'brien@example.com";
  assert.equal((await authserve(["init", "--email", email], { dir })).code, 0);
  assert.equal(readEnvironment(dir, {}).DEMO_EMAIL, email);
});

test("init refuses an address that .env cannot quote", async () => {
  const { code, stderr } = await authserve(["init", "--email", "o'br$ien@example.com"], { dir: workingDir() });
  assert.equal(code, 2);
  assert.match(stderr, /set DEMO_EMAIL in the environment/);
});

test("serve --init creates its files, with a data directory of mode 0700, and starts again with them", async () => {
  const dir = workingDir();
  const options = { dir, args: ["--init"], env: { ...FROM_FILE, DATA_DIR: undefined } };
  await using first = await startServer(options);
  // Standard error is not a terminal here, so it may be a log.
  assert.match(first.stderr(), /^ {2}password {2}in \.env\.password /m);
  const password = readFileSync(join(dir, ".env.password"), "utf8").trim();
  assert.equal(statSync(join(dir, ".env.password")).mode & 0o777, 0o600);
  assert.ok(!first.stderr().includes(password));
  await assertUsable(first, "demo@example.com", password);
  await until(() => first.stderr().includes(`ready at ${first.url}`));
  assert.equal(statSync(join(dir, "data")).mode & 0o777, 0o700);
  assert.equal(statSync(join(dir, "data", "authserve.db")).mode & 0o777, 0o600);
  const env = readFileSync(join(dir, ".env"), "utf8");
  await first.stop();

  await using second = await startServer(options);
  assert.equal(passwordIn(second.stderr()), "");
  assert.equal(readFileSync(join(dir, ".env"), "utf8"), env);
  await assertUsable(second, "demo@example.com", password);
});

test("serve --init writes nothing when its port is in use", async (t) => {
  const dir = workingDir();
  const other = createServer();
  await once(other.listen(0, "127.0.0.1"), "listening");
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const refused = await authserve(["serve", "--init"], { dir, env: { ...FROM_FILE, PORT: String(port) } });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^error: PORT \d+ is in use/);
  assert.deepEqual(readdirSync(dir), []);
});

test("serve --init starts in a read-only folder if .env exists", needsOtherUser(), async (t) => {
  const dir = workingDir();
  const DATA_DIR = workingDir(0o777);
  assert.equal((await authserve(["init"], { dir })).code, 0);
  chmodSync(join(dir, ".env"), 0o644);
  chmodSync(dir, 0o555);
  t.after(() => chmodSync(dir, 0o700));
  // File modes do not restrict root, so as root the server is run as nobody.
  const user = process.getuid?.() === 0 ? { uid: NOBODY } : {};
  await using server = await startServer({ dir, args: ["--init"], env: { ...FROM_FILE, DATA_DIR }, ...user });
  assert.deepEqual(readdirSync(dir), [".env"]);
  assert.equal(passwordIn(server.stderr()), "");
});

test("serve --init prints commands that work when pasted, also for an address with an apostrophe", async () => {
  const dir = workingDir();
  const password = passwordIn((await authserve(["init", "--email", "o'brien@example.com"], { dir })).stderr);
  await using server = await startServer({ dir, args: ["--init"], env: FROM_FILE });
  await until(() => server.stderr().includes("Stop with"));
  const [steps = ""] = / {2}# Log in.*(?=Stop with)/s.exec(server.stderr()) ?? [];
  const { code, stdout } = await runProgram("sh", ["-ec", steps.replace("YOUR-PASSWORD", password)], {
    dir,
    env: server.env,
  });
  assert.equal(code, 0);
  assert.doesNotMatch(steps, /curl[^|]*password/);
  assert.match(stdout, /"email":"o'brien@example\.com"/);
  assert.match(stdout, /"received":true/);
  assert.match(stdout, /^RECEIVED .*\n.* payment_intent\.succeeded /m);
});

test("serve --init prints the shorter path of the program, relative or absolute", async () => {
  const dir = mkdtempSync(join(dirname(EXECUTABLE), "../node_modules/.test-"));
  try {
    await using server = await startServer({ dir, args: ["--init"] });
    await until(() => server.stderr().includes("Stop with"));
    const path = join("../..", basename(dirname(EXECUTABLE)), "authserve");
    assert.ok(server.stderr().includes(`\n  ${path} events list\n`), server.stderr());
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("init --system is for root only", needsOtherUser(), async () => {
  const user = process.getuid?.() === 0 ? { uid: NOBODY } : {};
  const { code, stderr } = await authserve(["init", "--system", "--email", "ana@example.com"], {
    dir: workingDir(0o777),
    ...user,
  });
  assert.deepEqual([code, stderr], [1, "error: --system needs root\n  hint: run the same command with sudo\n"]);
});
