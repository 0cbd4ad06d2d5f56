import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import packageJson from "../../../package.json" with { type: "json" };
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { needsMount } from "../../helpers/back-end.ts";
import { deliver, event, post } from "../../helpers/client.ts";
import { authserve } from "../../helpers/command.ts";
import { newEvent } from "../../helpers/events.ts";
import { type Server, settings, startServer } from "../../helpers/server.ts";
import { signature } from "../../helpers/sign.ts";
import { mountDisk } from "../../helpers/small-disk.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

interface Finding {
  check: string;
  verdict: string;
  found: string;
  remedy: string | null;
}

async function examine(server: Pick<Server, "dir" | "env">, env: Record<string, string | undefined> = {}) {
  const { code, stdout, stderr } = await authserve(["doctor", "--json"], {
    dir: server.dir,
    env: { ...server.env, ...env },
  });
  const findings = JSON.parse(stdout || "[]") as Finding[];
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  return { code, stderr, findings, of, wrong: findings.filter(({ verdict }) => verdict === "wrong") };
}

type Examined = Awaited<ReturnType<typeof examine>>;

/**
 * Examines again while this is not so. How long an fsync or an answer takes depends on the machine, and may be a
 * finding.
 */
function examineUntil(place: Pick<Server, "dir" | "env">, isSo: (examined: Examined) => boolean): Promise<Examined> {
  return until(async () => {
    const examined = await examine(place);
    return isSo(examined) ? examined : null;
  });
}

const isWell = ({ wrong }: Examined) => !wrong.some(({ check }) => check === "fsync" || check === "server");

function tlsFiles(cert: string, key: string): Record<string, string> {
  const fixture = (name: string) => join(import.meta.dirname, "../../fixtures", name);
  return { TLS_CERT_FILE: fixture(cert), TLS_KEY_FILE: fixture(key) };
}

/** A database with an event, and no server. */
async function storedEvent() {
  const dir = workingDir();
  const database = openDatabase(join(dir, "data"));
  await localStores(database).events.append([newEvent({ receivedAt: Date.now() })]);
  database.close();
  return { dir, env: settings(dir), file: join(dir, "data/authserve.db") };
}

suite("authserve doctor", async () => {
  const server = await startServer();
  after(() => server[Symbol.asyncDispose]());

  test("with a healthy server every check is ok and the exit code is 0", async () => {
    await deliver(server, event("evt_1"));
    const { code, findings, wrong } = await examineUntil(server, isWell);
    assert.deepEqual(wrong, []);
    assert.equal(code, 0);
    const checks = [
      "add-ons",
      "settings",
      "file modes",
      "database",
      "schema",
      "writes",
      "free disk",
      "fsync",
      "clock",
      "Redis",
      "sources",
      "server",
    ];
    assert.deepEqual(
      findings.map(({ check }) => check),
      checks,
    );
    const { stdout } = await server.run(["doctor"]);
    assert.equal(stdout.trim().split("\n").length, checks.length);
  });

  test("before the first start it finds nothing wrong", async () => {
    const dir = workingDir();
    const { code, wrong } = await examineUntil({ dir, env: settings(dir) }, isWell);
    assert.deepEqual(wrong, []);
    assert.equal(code, 0);
  });

  test("names each bad setting with its remedy, never a value", async () => {
    const dir = workingDir();
    const env = { JWT_SECRET: "short-and-secret", PORT: "70000" };
    const { code, of, stderr, findings } = await examine({ dir, env: settings(dir) }, env);
    assert.equal(code, 1, stderr);
    assert.deepEqual(
      of("settings").map(({ found }) => found),
      ["JWT_SECRET is shorter than 32 bytes", "PORT is not usable"],
    );
    assert.deepEqual(
      of("settings").map(({ remedy }) => remedy),
      ["make one with openssl rand -base64 48", "expected a whole number from 0 to 65535"],
    );
    assert.ok(!JSON.stringify(findings).includes("short-and-secret"));
  });

  test("warns of an old secret that will be retired within a day, and of a retired one", async () => {
    const dir = workingDir();
    const source = (retire: string) => `{ verify: { header: x-sig }, secrets: [env:NEW, env:OLD], retire: ${retire} }`;
    writeFileSync(join(dir, "authserve.yaml"), `sources:\n  soon: ${source("12h")}\n  past: ${source("1s")}\n`);
    await using rotated = await startServer({
      dir,
      env: { NEW: "a new secret of doctor", OLD: "an old secret of doctor" },
    });
    const body = JSON.stringify(event("evt_1"));
    const headers = { "X-Sig": signature(body, "an old secret of doctor").slice("sha256=".length) };
    for (const name of ["soon", "past"])
      assert.equal((await post(rotated, `/webhook/${name}`, body, headers)).status, 200);
    const usedBefore = Date.now();
    await until(() => Date.now() > usedBefore + 1000);
    const texts = await until(async () => {
      const { of } = await examine(rotated);
      const found = of("secrets").map(({ verdict, found: text, remedy }) => `${verdict}: ${text}: ${remedy}`);
      return found.some((text) => text.includes("is retired")) ? found : null;
    });
    for (const expected of [
      /^warning: soon will retire env:OLD at \S+, unless its sender uses it before: set the secret of env:NEW at the sender$/,
      /^warning: past has not accepted env:OLD since \S+: it is retired: remove env:OLD from past$/,
    ]) {
      assert.ok(
        texts.some((text) => expected.test(text)),
        texts.join("\n"),
      );
    }
  });

  test("a database that others may read is wrong", async () => {
    const stored = await storedEvent();
    chmodSync(stored.file, 0o644);
    const { code, of } = await examine(stored);
    assert.equal(code, 1);
    assert.match(of("file modes")[0]?.remedy ?? "", /^chmod go= .*authserve\.db$/);
  });

  test("a schema is wrong if it is newer than this version, or older than the first release", async () => {
    const stored = await storedEvent();
    for (const [schema, remedy] of [
      [999, `run authserve ${packageJson.version} or newer`],
      [6, "start with an empty DATA_DIR"],
    ]) {
      new Sqlite(stored.file).exec(`PRAGMA user_version = ${schema}`).close();
      const { code, of } = await examine(stored);
      assert.equal(code, 1);
      assert.equal(of("schema")[0]?.remedy, remedy);
    }
  });

  test("an event from the future means that the clock is wrong", async () => {
    const stored = await storedEvent();
    new Sqlite(stored.file).exec("UPDATE events SET received_at = received_at + 3600000").close();
    assert.equal((await examine(stored)).of("clock")[0]?.verdict, "wrong");
  });

  test("missing TLS files, and a DATA_DIR that cannot be created, are wrong", async () => {
    const dir = workingDir();
    symlinkSync("nowhere", join(dir, "dangling"));
    const { code, of, stderr } = await examine(
      { dir, env: settings(dir) },
      {
        DATA_DIR: join(dir, "dangling"),
        TLS_CERT_FILE: "/nope.crt",
        TLS_KEY_FILE: "/nope.key",
        REDIS_HOST: "127.0.0.1",
        REDIS_TLS: "true",
        REDIS_TLS_CA_FILE: "/nope.pem",
      },
    );
    assert.equal(code, 1, stderr);
    assert.deepEqual(
      of("settings").map(({ found }) => found),
      ["TLS_CERT_FILE", "TLS_KEY_FILE", "REDIS_TLS_CA_FILE"].map((name) => `${name} cannot be read (ENOENT)`),
    );
    assert.deepEqual([...of("TLS"), ...of("Redis")], []);
    assert.equal(of("free disk")[0]?.verdict, "wrong");
  });

  test("a key that is not the certificate's is one finding, with a separate remedy", async () => {
    const dir = workingDir();
    const { of } = await examine({ dir, env: settings(dir) }, tlsFiles("first.crt", "second.key"));
    assert.deepEqual(of("TLS"), []);
    const [finding, ...others] = of("settings");
    assert.deepEqual(others, []);
    assert.match(finding?.found ?? "", /^TLS_CERT_FILE and TLS_KEY_FILE are not a usable pair \(.*\)$/);
    assert.equal(finding?.remedy, "name a PEM certificate and its key");
  });

  test("a server that is not ready, or does not answer, is wrong", async () => {
    const ready = await examineUntil(server, isWell);
    assert.match(ready.of("server")[0]?.found ?? "", /is ready$/);

    const other = new Sqlite(join(server.dir, "data/authserve.db"));
    other.exec("BEGIN IMMEDIATE");
    const held = await examine(server);
    other.close();
    assert.equal(held.code, 1);
    assert.match(held.of("server")[0]?.found ?? "", /\/readyz (?:says 503|does not answer)/);

    server.signal("SIGSTOP");
    const stopped = await examine(server);
    server.signal("SIGCONT");
    assert.equal(stopped.code, 1);
    assert.match(stopped.of("server")[0]?.found ?? "", /^a server runs on this DATA_DIR, but .* does not answer/);
  });

  test("an untrusted proxy is logged once, and reported by doctor until the server trusts it", async () => {
    await using unaware = await startServer();
    const throughProxy = () => fetch(`${unaware.url}/healthz`, { headers: { "X-Forwarded-For": "203.0.113.9" } });
    await throughProxy();
    await throughProxy();
    const { code, of } = await examineUntil(unaware, isWell);
    assert.equal(code, 0);
    const [finding] = of("proxy");
    assert.equal(finding?.verdict, "warning");
    assert.match(finding?.remedy ?? "", /^set TRUSTED_PROXIES=127\.0\.0\.1,/);
    const [line, ...others] = unaware.log("proxy_not_trusted");
    assert.equal(line?.message, `${finding?.found}: ${finding?.remedy}`);
    assert.deepEqual(others, []);

    await unaware.stop();
    await using named = await startServer({ dir: unaware.dir, env: { TRUSTED_PROXIES: "127.0.0.1" } });
    await fetch(`${named.url}/healthz`, { headers: { "X-Forwarded-For": "203.0.113.9" } });
    assert.deepEqual((await examine(named)).of("proxy"), []);
  });

  test("what a proxy lacks in its questions is reported until a server starts that is asked rightly", async () => {
    const file = join(workingDir(), "authserve.yaml");
    writeFileSync(file, "access:\n  - { host: a.example.com, methods: [GET], allow: everyone }\n");
    await using server = await startServer({ env: { CONFIG_FILE: file, TRUSTED_PROXIES: "127.0.0.1" } });
    const headers = {
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "a.example.com",
      "X-Forwarded-For": "192.0.2.1",
    };
    assert.equal((await fetch(`${server.url}/auth/verify`, { headers })).status, 400);
    const [finding] = (await examineUntil(server, isWell)).of("proxy");
    assert.match(finding?.found ?? "", /^a proxy names no method, and an entry of access compares it$/);
    assert.match(finding?.remedy ?? "", /^send X-Original-Method, or X-Forwarded-Method$/);
    assert.equal(server.log("original_request_unclear")[0]?.message, `${finding?.found}: ${finding?.remedy}`);
  });

  test("another server at the address of this one is wrong", async () => {
    await using other = await startServer();
    const file = join(other.dir, "data/server.json");
    writeFileSync(file, readFileSync(file, "utf8").replace(`:${other.port}`, `:${server.port}`));
    const found = ({ of }: Examined) => of("server")[0]?.found ?? "";
    const examined = await examineUntil(other, (one) => !found(one).includes("does not answer"));
    assert.equal(examined.code, 1);
    assert.match(found(examined), /is answered by another server/);
  });

  test("an invalid lock file, and a database that is a link to a missing file, are reported as by serve", async () => {
    const make: [string, (path: string) => void, string][] = [
      ["serve.lock", (path) => mkdirSync(path), "lock"],
      ["serve.lock", (path) => writeFileSync(path, "something else, and longer than a header\n".repeat(30)), "lock"],
      ["authserve.db", (path) => symlinkSync("nowhere", path), "database"],
    ];
    for (const [name, put, check] of make) {
      const dir = workingDir();
      mkdirSync(join(dir, "data"), { mode: 0o700 });
      put(join(dir, "data", name));
      const { code, of } = await examine({ dir, env: settings(dir) });
      assert.equal(code, 1, name);
      const [finding] = of(check);
      assert.match(`${finding?.found}: ${finding?.remedy}`, new RegExp(`${name}.*: remove it`));
      if (check !== "lock") continue;
      const refused = await authserve(["serve"], { dir, env: settings(dir) });
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /^error: DATA_DIR\/serve\.lock is not a server's lock file\n {2}hint: remove it$/m);
    }
  });

  test("a database that another program has locked is reported as locked", async () => {
    const stored = await storedEvent();
    const holder = new Sqlite(stored.file);
    holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    try {
      const [finding] = (await examine(stored)).of("database");
      assert.equal(finding?.found, "cannot be read: another program holds its lock");
      assert.equal(finding?.remedy, "end that program, or wait for it");
    } finally {
      holder.close();
    }
  });

  test("an unreadable .env, and a DATA_DIR that is not a directory, are findings", async () => {
    const dir = workingDir();
    mkdirSync(join(dir, ".env"));
    writeFileSync(join(dir, "file"), "");
    const { code, of, stderr } = await examine({ dir, env: { ...settings(dir), DATA_DIR: join(dir, "file") } });
    assert.equal(code, 1, stderr);
    assert.equal(of("settings")[0]?.found, ".env cannot be read (EISDIR)");
    assert.equal(of("database")[0]?.found, "DATA_DIR is not a directory");
  });

  test("an unlimited file system is not full", needsMount(), async (t) => {
    const dir = workingDir();
    mountDisk(t, join(dir, "data"), "0");
    const { code, of } = await examineUntil({ dir, env: settings(dir) }, isWell);
    assert.deepEqual(
      of("free disk").map(({ verdict, found }) => [verdict, found]),
      [["ok", "unlimited for DATA_DIR"]],
    );
    assert.equal(code, 0);
  });

  test("less free space than MIN_FREE_DISK is wrong, and 0 is no mark", async () => {
    const dir = workingDir();
    const env = { ...settings(dir), DATA_DIR: dir };
    const [low] = (await examine({ dir, env }, { MIN_FREE_DISK: "1000000g" })).of("free disk");
    assert.equal(low?.verdict, "wrong");
    assert.match(low?.remedy ?? "", /^make space, or lower MIN_FREE_DISK/);
    const [unmarked] = (await examine({ dir, env }, { MIN_FREE_DISK: "0" })).of("free disk");
    assert.doesNotMatch(unmarked?.remedy ?? "", /MIN_FREE_DISK/);
  });

  test("a system directory gets no advice to change its mode", async () => {
    const dir = workingDir();
    const { of } = await examine({ dir, env: { ...settings(dir), DATA_DIR: "/tmp" } });
    assert.equal(of("file modes")[0]?.remedy, "set DATA_DIR to a directory of its own");
  });

  test("a port in use, and a Redis that does not answer, are wrong", async () => {
    const dir = workingDir();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const port = String((other.address() as AddressInfo).port);
    const { code, of } = await examine(
      { dir, env: settings(dir) },
      { PORT: port, REDIS_HOST: "127.0.0.1", REDIS_PORT: port },
    );
    other.close();
    assert.equal(code, 1);
    assert.match(of("port")[0]?.found ?? "", /is in use$/);
    assert.equal(of("Redis")[0]?.verdict, "wrong");
  });
});
