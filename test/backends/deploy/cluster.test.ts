import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { SETTING_GROUPS } from "../../../src/config/settings.ts";
import { needsHaproxy, needsNginx, needsPostgres } from "../../helpers/back-end.ts";
import { runProgram, startProgram } from "../../helpers/command.ts";
import { changed, nginxConfiguration } from "../../helpers/deployed-files.ts";
import { freePort } from "../../helpers/ports.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { makeDir, run, startProcess, USER } from "../../helpers/postgres-process.ts";
import { startServer } from "../../helpers/server.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { pairNamed } from "../../helpers/tls.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const CLUSTER = join(import.meta.dirname, "../../../deploy/cluster");
const read = (file: string) => readFileSync(join(CLUSTER, file), "utf8");
const { cert, key } = pairNamed("first");

interface Ports {
  https: number;
  http: number;
  servers: [number, number];
}

/**
 * Writes the configuration of a proxy to a new folder. Returns how to start it there. `check` is the option that only
 * checks it.
 */
type Preparation = (ports: Ports, more?: Changes) => { program: string; dir: string; args: string[]; check: string };
type Changes = readonly (readonly [string | RegExp, string])[];

const haproxy: Preparation = ({ https, http, servers }, more = []) => {
  const dir = workingDir();
  const pem = join(dir, "pair.pem");
  writeFileSync(pem, readFileSync(cert, "utf8") + readFileSync(key, "utf8"));
  const text = changed(read("haproxy.cfg"), [
    [/^ *(?:user|group) haproxy\n/gm, ""],
    [/^ *bind :::.*\n/gm, ""],
    ["bind :80\n", `bind 127.0.0.1:${http}\n`],
    ["bind :443 ", `bind 127.0.0.1:${https} `],
    ["/etc/haproxy/certs/auth.example.com.pem", pem],
    ["10.0.0.11:3000", `127.0.0.1:${servers[0]}`],
    ["10.0.0.12:3000", `127.0.0.1:${servers[1]}`],
    ...more,
  ]);
  const file = join(dir, "haproxy.cfg");
  writeFileSync(file, text);
  return { program: "haproxy", dir, args: ["-f", file], check: "-c" };
};

const nginx: Preparation = ({ https, http, servers }) => {
  const dir = workingDir();
  const text = changed(read("nginx.conf"), [
    [/^ *listen \[::\].*\n/gm, ""],
    ["listen 80;", `listen 127.0.0.1:${http};`],
    ["listen 443 ", `listen 127.0.0.1:${https} `],
    [/ssl_certificate .*;/g, `ssl_certificate ${cert};`],
    [/ssl_certificate_key .*;/g, `ssl_certificate_key ${key};`],
    ["10.0.0.11:3000", `127.0.0.1:${servers[0]}`],
    ["10.0.0.12:3000", `127.0.0.1:${servers[1]}`],
  ]);
  const file = join(dir, "nginx.conf");
  writeFileSync(file, nginxConfiguration(dir, text));
  return { program: "nginx", dir, args: ["-p", dir, "-e", "stderr", "-c", file], check: "-t" };
};

interface Answer {
  status: number;
  text: string;
}

/** Sends a request to a proxy by HTTPS, with an address that the client claims to have. */
function ask(port: number, path: string, method = "GET"): Promise<Answer> {
  const headers = { host: "auth.example.com", "x-forwarded-for": "203.0.113.9" };
  const options = { port, host: "127.0.0.1", path, method, headers, agent: false, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const sent = request(options, async (answer) => resolve(await whole(answer)));
    sent.on("error", reject).end();
  });
}

async function whole(answer: IncomingMessage): Promise<Answer> {
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  return { status: answer.statusCode ?? 0, text };
}

/**
 * A server that tells who it is and who it takes for the client. It breaks requests for `/broken` after it has read
 * them.
 */
async function startStub(t: Cleanup, name: string) {
  const stub = { port: 0, isReady: true, requests: [] as string[], stop: () => {} };
  const server = createServer(({ method, url, headers }, response) => {
    if (url === "/healthz") return void response.end();
    if (url === "/readyz") return void response.writeHead(stub.isReady ? 200 : 503).end();
    stub.requests.push(`${method} ${url}`);
    if (url === "/broken") return void response.destroy();
    response.end(JSON.stringify({ name, from: headers["x-forwarded-for"], scheme: headers["x-forwarded-proto"] }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  stub.port = (server.address() as AddressInfo).port;
  stub.stop = () => {
    server.close();
    server.closeAllConnections();
  };
  t.after(stub.stop);
  return stub;
}

async function startBefore(t: Cleanup, prepare: Preparation, servers: [number, number]): Promise<number> {
  const https = await freePort();
  const { program, args, dir } = prepare({ https, http: await freePort(), servers });
  const { child, exited, stderr } = startProgram(program, args, { dir });
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${stderr()}`);
    return (await ask(https, "/").catch(() => null)) !== null;
  });
  return https;
}

const PROXIES: [string, Preparation, () => { skip: string | false }][] = [
  ["haproxy", haproxy, needsHaproxy],
  ["nginx", nginx, needsNginx],
];

for (const [name, prepare, needsProxy] of PROXIES) {
  suite(`${name} before two servers`, needsProxy(), () => {
    test("accepts the configuration", async () => {
      const { program, args, dir, check } = prepare({ https: 8443, http: 8080, servers: [3000, 3001] });
      const { code, stdout, stderr } = await runProgram(program, [...args, check], { dir });
      assert.equal(code, 0, stdout + stderr);
      assert.doesNotMatch(stdout + stderr, /warn/i);
    });

    test("names the client itself, and uses both servers", async (t) => {
      const stubs = [await startStub(t, "first"), await startStub(t, "second")] as const;
      const port = await startBefore(t, prepare, [stubs[0].port, stubs[1].port]);
      const seen = new Set<string>();
      await until(async () => {
        const { status, text } = await ask(port, "/");
        // On a machine that stalls, the servers may have missed a check.
        if (status !== 200) return false;
        const { name, from, scheme } = JSON.parse(text);
        assert.deepEqual([from, scheme], ["127.0.0.1", "https"]);
        return seen.add(name).size === 2;
      });
    });

    test("passes every request to the other server when one has gone, and repeats no POST that was sent", async (t) => {
      const stubs = [await startStub(t, "first"), await startStub(t, "second")] as const;
      const patient: Preparation = (ports) => prepare(ports, [[" fall 2 ", " fall 1000 "]]);
      const port = await startBefore(t, patient, [stubs[0].port, stubs[1].port]);
      const broken = await ask(port, "/broken", "POST");
      assert.equal(broken.status, 502);
      const posts = stubs.flatMap(({ requests }) => requests).filter((request) => request === "POST /broken");
      assert.equal(posts.length, 1);
      stubs[0].stop();
      for (let count = 0; count < 10; count++) {
        const { status, text } = await ask(port, "/", "POST");
        assert.deepEqual([status, JSON.parse(text).name], [200, "second"]);
      }
    });
  });
}

suite("haproxy before servers that are not ready", needsHaproxy(), () => {
  test("leaves a server out, and uses all live ones while none is ready", async (t) => {
    const stubs = [await startStub(t, "first"), await startStub(t, "second")] as const;
    const port = await startBefore(t, haproxy, [stubs[0].port, stubs[1].port]);
    const namesOfTen = async () => {
      const names = new Set<string>();
      for (let count = 0; count < 10; count++) {
        const { status, text } = await ask(port, "/");
        names.add(status === 200 ? JSON.parse(text).name : String(status));
      }
      return [...names].sort();
    };
    stubs[0].isReady = false;
    await until(async () => (await namesOfTen()).join() === "second");
    stubs[1].isReady = false;
    await until(async () => (await namesOfTen()).join() === "first,second");
    stubs[0].isReady = true;
    await until(async () => (await namesOfTen()).join() === "first");
  });

  test("finds a real server ready", async (t) => {
    await using server = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
    const port = await startBefore(t, haproxy, [server.port, await freePort()]);
    assert.equal((await ask(port, "/readyz")).status, 200);
    assert.deepEqual(server.log("bad_request"), []);
  });

  test("the configuration for compose.yaml differs in TLS and addresses only", async () => {
    const file = join(CLUSTER, "haproxy-compose.cfg");
    const { code, stdout, stderr } = await runProgram("haproxy", ["-c", "-f", file], { dir: workingDir() });
    assert.equal(code, 0, stdout + stderr);
    const backends = (text: string) =>
      text
        .slice(text.indexOf("backend ready"))
        .replace(/^#.*\n/gm, "")
        .replace(/172\.30\.0\.|10\.0\.0\./g, "");
    assert.equal(backends(read("haproxy-compose.cfg")), backends(read("haproxy.cfg")));
  });
});

test("compose.yaml can be read, and names files that exist", () => {
  const { services } = parse(read("compose.yaml"), { merge: true });
  assert.deepEqual(Object.keys(services), ["authserve1", "authserve2", "haproxy", "db1", "db2", "redis"]);
  const files = readdirSync(CLUSTER);
  for (const [name, { volumes = [], depends_on: needed = [] }] of Object.entries<Record<string, never>>(services)) {
    for (const volume of volumes as string[]) {
      const [, file] = /^\.\/([^:]+):/.exec(volume) ?? [];
      if (file !== undefined) assert.ok(files.includes(file), `${name}: ${file}`);
    }
    for (const other of Array.isArray(needed) ? needed : Object.keys(needed)) assert.ok(other in services, other);
  }
  const { hostname: first } = services.authserve1;
  assert.notEqual(first, services.authserve2.hostname);
  assert.equal(services.authserve1.environment.TRUSTED_PROXIES, services.haproxy.networks.default.ipv4_address);
});

/** Variables of PostgreSQL, of its image and of psql. */
const FOREIGN = /^(?:PG|POSTGRES_|ON_ERROR_STOP$)/;

test("every setting that the files name exists", () => {
  const known = new Set(
    Object.values(SETTING_GROUPS)
      .flatMap(Object.entries)
      .flatMap(([name, { secret }]) => [name, ...(secret ? [`${name}_FILE`] : [])]),
  );
  const { services } = parse(read("compose.yaml"), { merge: true });
  const assigned = [
    ...Array.from(read("authserve.conf").matchAll(/^#?([A-Z_]+)=/gm), ([, name]) => name),
    ...Array.from((/^ENV (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "").matchAll(/([A-Z_]+)=/g), ([, name]) => name),
    ...["authserve1", "authserve2"].flatMap((name) => Object.keys(services[name].environment)),
  ];
  assert.ok(assigned.length > 15);
  const named = readdirSync(CLUSTER).flatMap((file) => read(file).match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? []);
  const unknown = [...assigned, ...named].filter((name = "") => !known.has(name) && !FOREIGN.test(name));
  assert.deepEqual(unknown, []);
});

/** The settings of a file of PostgreSQL. Throws at a line that is none. */
function settingsOf(file: string): Record<string, string> {
  const lines = read(file)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const settings = lines.map((line) => {
    const [, name, quoted, plain] = /^(\w+) = (?:'([^']*)'|(\w+))$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`${file}: ${line}`);
    return [name, quoted ?? plain ?? ""];
  });
  // The test server has an address and a certificate of its own.
  const { listen_addresses, ssl_cert_file, ssl_key_file, ...others } = Object.fromEntries(settings);
  assert.ok(listen_addresses && ssl_cert_file && ssl_key_file);
  return others;
}

suite("the PostgreSQL of a cluster", needsPostgres(), () => {
  test("differs in the name of each server only", () => {
    const { cluster_name: primaryName, ...primary } = settingsOf("postgresql-primary.conf");
    const { cluster_name: standbyName, hot_standby, ...standby } = settingsOf("postgresql-standby.conf");
    assert.deepEqual([primaryName, standbyName, hot_standby], ["db1", "db2", "on"]);
    assert.deepEqual(standby, primary);
  });

  test("confirms a commit when a standby has it", async (t) => {
    const primary = await startPostgres(t, { settings: settingsOf("postgresql-primary.conf"), tls: { cert, key } });
    const dir = makeDir();
    const data = join(dir, "data");
    const from = ["-h", primary.dir, "-p", `${primary.port}`, "-U", USER];
    run("pg_basebackup", [...from, "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync"]);
    const standby = await startProcess(dir, data, settingsOf("postgresql-standby.conf"));
    t.after(async () => {
      await standby.dispose();
      rmSync(dir, { recursive: true, force: true });
    });
    const states = () => primary.query("SELECT application_name AS name, sync_state FROM pg_stat_replication");
    await until(async () => (await states())[0]?.sync_state === "quorum");
    assert.deepEqual(await states(), [{ name: "db2", sync_state: "quorum" }]);
    await primary.query("CREATE TABLE written (id int)");
    await standby.end("SIGINT");
    const waiting = primary.query("INSERT INTO written VALUES (1)");
    await until(
      async () => (await primary.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).length === 1,
    );
    await standby.restart();
    await waiting;
  });
});
