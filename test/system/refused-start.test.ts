import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { NOBODY, needs, needsAll, needsOtherUser } from "../helpers/back-end.ts";
import { ask, logIn } from "../helpers/client.ts";
import type { Finished } from "../helpers/command.ts";
import { PASSWORD_HASH } from "../helpers/credentials.ts";
import { type Server, serveRefused, startServer } from "../helpers/server.ts";
import { claimsOf } from "../helpers/sign.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** Asserts one clear message, without a log line, stack or value. */
function assertRefused({ code, stdout, stderr }: Finished, names: RegExp): void {
  assert.equal(code, 2, stderr);
  assert.match(stderr, names);
  assert.match(stderr, /^error: /);
  assert.doesNotMatch(stderr, /\n\s+at |node:internal/);
  assert.doesNotMatch(stdout, /server_started/);
}

const oneError = ({ stderr }: Finished) =>
  /^error: [^\n]+(?:\n {2}hint: [^\n]+)?(?:\n {2}more: [^\n]+)?\n$/.test(stderr);

const isRoot = () => process.getuid?.() === 0;
const canGiveAway = needsAll(
  needsOtherUser(),
  needs("the file of another user", isRoot, "giving a file away needs root"),
);

test("a port in use gives one message with the port and a remedy, and exit code 2", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = other.address() as { port: number };
    const refused = await serveRefused({ PORT: String(port) });
    assertRefused(refused, new RegExp(`PORT ${port} is in use\\n  hint: .*set another PORT`));
    assert.ok(oneError(refused));
  } finally {
    other.close();
  }
});

test("a HOST of another machine is refused with exit code 2", async () => {
  assertRefused(await serveRefused({ HOST: "192.0.2.1" }), /HOST/);
});

test("a link-local HOST without its zone is refused by name", async () => {
  assertRefused(await serveRefused({ HOST: "fe80::1" }), /^error: HOST /);
});

test("a DATA_DIR below a file gives one message and exit code 2", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "file"), "");
  const refused = await serveRefused({ DATA_DIR: join(dir, "file", "data") }, dir);
  assertRefused(refused, /DATA_DIR cannot be created/);
  assert.ok(oneError(refused));
  const both = await serveRefused({ DATA_DIR: join(dir, "file", "data"), PORT: "none" }, dir);
  assertRefused(both, /DATA_DIR cannot be created[\s\S]*PORT is not usable/);
});

test("a DATA_DIR that the user cannot write gives one message and exit code 2", needsOtherUser(), async () => {
  const dir = workingDir(0o755);
  mkdirSync(join(dir, "data"), { mode: 0o555 });
  // File modes do not restrict root, so as root the server is run as nobody.
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const refused = await serveRefused({}, dir, uid);
  assertRefused(refused, /DATA_DIR/);
  assert.ok(oneError(refused));
});

test("a DATA_DIR that the user cannot read gives one message and exit code 2", needsOtherUser(), async () => {
  const dir = workingDir(0o755);
  mkdirSync(join(dir, "data"), { mode: 0o000 });
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const refused = await serveRefused({}, dir, uid);
  assertRefused(refused, /DATA_DIR cannot be written/);
  assert.ok(oneError(refused));
});

test(
  "a file of another user in DATA_DIR is named, with both users and the command that helps",
  canGiveAway,
  async () => {
    for (const name of ["serve.lock", "authserve.db"]) {
      const dir = workingDir(0o777);
      const uid = NOBODY;
      await using server = await startServer({ dir, uid });
      await server.stop();
      const file = join(dir, "data", name);
      chownSync(file, 0, 0);
      const { stderr } = await serveRefused({}, dir, uid);
      const says = `${file} belongs to user 0, and authserve runs as user ${uid}; run chown -R ${uid} ${join(dir, "data")} as root`;
      assert.ok(stderr.includes(says), stderr);
    }
  },
);

test("a DATA_DIR that cannot be created gives one message and exit code 2", async () => {
  assertRefused(await serveRefused({ DATA_DIR: "/proc/authserve/data" }), /DATA_DIR cannot be created/);
});

test("a read-only database is refused as read-only, not as damaged", needsOtherUser(), async () => {
  const dir = workingDir(0o755);
  await using server = await startServer({ dir });
  await server.stop();
  chmodSync(join(dir, "data", "serve.lock"), 0o666);
  chmodSync(join(dir, "data", "authserve.db"), 0o444);
  chmodSync(join(dir, "data"), 0o777);
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const refused = await serveRefused({}, dir, uid);
  assertRefused(refused, /belongs to user 0|that this user can write/);
  assert.doesNotMatch(refused.stderr, /damaged|restore/);
});

test("a read-only lock file is refused, because it cannot be locked", needsOtherUser(), async () => {
  const dir = workingDir(0o777);
  const uid = process.getuid?.() === 0 ? { uid: NOBODY } : {};
  await using server = await startServer({ dir, ...uid });
  await server.stop();
  chmodSync(join(dir, "data", "serve.lock"), 0o444);
  assertRefused(await serveRefused({}, dir, uid.uid), /DATA_DIR cannot be written \(EACCES.*serve\.lock/);
});

test("a second server on the same DATA_DIR is refused, and the first one keeps running", async () => {
  await using first = await startServer();
  const refused = await serveRefused({}, first.dir);
  assertRefused(refused, /Another authserve uses this DATA_DIR/);
  assert.ok(oneError(refused));
  assert.equal((await ask(first, "/readyz")).status, 200);
});

test("a damaged database is refused and not changed", async () => {
  const dir = workingDir();
  const file = join(dir, "data", "authserve.db");
  const content = "this is no database, and it is long enough to be read as one".repeat(99);
  mkdirSync(join(dir, "data"));
  writeFileSync(file, content);
  assertRefused(await serveRefused({}, dir), /damaged or not a database/);
  assert.equal(readFileSync(file, "utf8"), content);
});

test("every bad setting is named in one report, with a remedy and without its value", async () => {
  const bad: Record<string, string> = {
    JWT_SECRET: "bad-value-1",
    JWT_TTL: "0s",
    DEMO_EMAIL: "bad-value-2",
    DEMO_PASSWORD: "bad-value-3",
    DEMO_USER_ID: "bad value 4",
    PORT: "bad-value-5",
    LOG_LEVEL: "bad-value-6",
    WEBHOOK_PATH: "bad-value-7",
    WEBHOOK_BODY_LIMIT: "bad-value-8",
    FORWARD_URL: "ftp://bad-value-9",
    RETRY_ATTEMPTS: "0",
    RETRY_BACKOFF: "bad-value-10",
    RETRY_DELAY: "1.5s",
    RETRY_JITTER: "2",
    WORKER_CONCURRENCY: "bad-value-11",
    WORKER_POLL_INTERVAL: "bad-value-12",
    HANDLER_TIMEOUT: "bad-value-13",
    SHUTDOWN_TIMEOUT: "bad-value-14",
    TRUSTED_PROXIES: "bad-value-15",
    WEBHOOK_ALLOWED_ADDRESSES: "10.0.0.0/33",
    REDIS_PORT: "65536",
    TLS_CERT_FILE: "/bad-value-16",
    TLS_KEY_FILE: "/bad-value-18",
    REDIS_HOST: "redis://bad-value-19",
    HOST: "999.1.1.1",
    DATA_DIR: "/dev/null",
    REDIS_PASSWORD_FILE: "/bad-value-17",
  };
  const refused = await serveRefused(bad);
  assertRefused(refused, /^error: /);
  for (const name of Object.keys(bad)) assert.match(refused.stderr, new RegExp(`^error: ${name}\\b.*\n  hint: `, "m"));
  assert.doesNotMatch(refused.stderr, /bad.value|999|null/);
});

test("missing settings are named in one line, with serve --init as the remedy", async () => {
  const missing = { JWT_SECRET: undefined, DEMO_EMAIL: "", DEMO_PASSWORD: undefined };
  const refused = await serveRefused(missing);
  assertRefused(
    refused,
    /^error: JWT_SECRET, DEMO_EMAIL, DEMO_PASSWORD are not set\n {2}hint: .*authserve serve --init/,
  );
});

test("a secret that is set both directly and as a file is refused", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "hash"), PASSWORD_HASH);
  const refused = await serveRefused({ DEMO_PASSWORD_FILE: join(dir, "hash") }, dir);
  assertRefused(refused, /DEMO_PASSWORD and DEMO_PASSWORD_FILE are both set/);
});

test("secrets may come from files and settings from .env, and the environment overrides .env", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "hash"), `${PASSWORD_HASH}\n`);
  writeFileSync(join(dir, ".env"), "DEMO_EMAIL='of-the-file@example.com'\nJWT_TTL='60s'\n");
  await using server = await startServer({
    dir,
    env: { DEMO_PASSWORD: undefined, DEMO_PASSWORD_FILE: join(dir, "hash"), DEMO_EMAIL: undefined, JWT_TTL: "120s" },
  });
  const { exp, iat } = claimsOf(await logIn(server, { email: "of-the-file@example.com" }));
  assert.equal(exp - iat, 120);
});

test("a JWT_TTL of unknown form gives 900 seconds and a warning", async () => {
  await using server = await startServer({ env: { JWT_TTL: "15 minutes" } });
  assert.match(
    server
      .log("setting_warning")
      .map(({ message }) => message)
      .join(),
    /JWT_TTL/,
  );
  const { exp, iat } = claimsOf(await logIn(server));
  assert.equal(exp - iat, 900);
  const session = JSON.parse((await server.run(["session", "show", "--json"])).stdout);
  assert.ok(Math.abs(Date.parse(session.expiresAt) / 1000 - exp) <= 60);
});

test("a warning names Redis settings without an address of Redis", async () => {
  const env = {
    REDIS_PORT: "6380",
    REDIS_DB: "0",
    REDIS_SENTINEL_PASSWORD: "of-a-sentinel",
    REDIS_MASTER_NAME: "main",
  };
  await using server = await startServer({ env });
  const messagesOf = ({ log }: Server) =>
    log("setting_warning")
      .map(({ message }) => String(message))
      .filter((message) => !message.startsWith("DEMO_PASSWORD"));
  assert.deepEqual(messagesOf(server), [
    "Redis is not used, so these settings have no effect: REDIS_PORT, REDIS_SENTINEL_PASSWORD, REDIS_MASTER_NAME. Set one of REDIS_HOST, REDIS_SENTINELS, REDIS_CLUSTER, or sessions stay in the database",
  ]);
  await using silent = await startServer();
  assert.deepEqual(messagesOf(silent), []);
});

test("a warning names a misspelled setting in .env, and an .env that others may read", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, ".env"), "FORWARD_URI=http://127.0.0.1:1/\nPGHOST=db\n", { mode: 0o644 });
  chmodSync(join(dir, ".env"), 0o644);
  await using server = await startServer({ dir });
  const messages = server.log("setting_warning").map(({ message }) => message);
  assert.ok(messages.includes("FORWARD_URI in .env is not a setting: did you mean FORWARD_URL?"));
  assert.ok(messages.includes(".env has mode 644: others may read it: chmod go= .env"));
  assert.ok(!messages.join().includes("PGHOST"));
  const doctor = await server.run(["doctor"]);
  assert.match(
    doctor.stdout,
    /^warning +settings +FORWARD_URI in \.env is not a setting → did you mean FORWARD_URL\?$/m,
  );
});
