import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect } from "node:tls";
import { event } from "../helpers/client.ts";
import { type Server, serveRefused, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { pairNamed, shownName, use } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const dir = workingDir();
const pairs = { first: pairNamed("first"), second: pairNamed("second") };
const FIRST = { TLS_CERT_FILE: pairs.first.cert, TLS_KEY_FILE: pairs.first.key };

const server = await startServer({ env: FIRST });
after(() => server[Symbol.asyncDispose]());

// Each test of a reload begins with the first pair in use.
const files = { cert: join(dir, "in-use.crt"), key: join(dir, "in-use.key") };
use(files, pairs.first);
const reloading = await startServer({ env: { TLS_CERT_FILE: files.cert, TLS_KEY_FILE: files.key } });
after(() => reloading[Symbol.asyncDispose]());

async function useFirst(): Promise<void> {
  use(files, pairs.first);
  await until(async () => (await shownName(reloading.port)) === "first");
}

/** Waits until a pair was refused once more. */
async function reloadFails(change: () => void): Promise<void> {
  const failures = () => reloading.log("tls_reload_failed").length;
  const before = failures();
  change();
  await until(() => failures() > before);
}

function get(port: number, path: string, ca: string): Promise<{ status: number; hsts: string | undefined }> {
  return new Promise((resolve, reject) => {
    const options = { port, path, host: "127.0.0.1", servername: "localhost", ca: readFileSync(ca), agent: false };
    const sent = request(options, (response) => {
      response.resume();
      const hsts = response.headers["strict-transport-security"];
      response.on("end", () => resolve({ status: response.statusCode ?? 0, hsts }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

test("with a certificate the server speaks only HTTPS, sends HSTS, and reloads a new pair while it runs", async () => {
  await useFirst();
  const { port } = reloading;
  assert.match(reloading.url, /^https:/);

  const answer = await get(port, "/auth/me", files.cert);
  assert.equal(answer.status, 401);
  assert.match(answer.hsts ?? "", /^max-age=[1-9][0-9]{6,}/);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`));
  await assert.rejects(shownName(port, { maxVersion: "TLSv1.1" }));
  assert.equal(await shownName(port), "first");

  await reloadFails(() => writeFileSync(files.key, readFileSync(pairs.second.key)));
  assert.equal(await shownName(port), "first");

  use(files, pairs.second);
  await until(async () => (await shownName(port)) === "second");
  await reloading.logged("tls_reloaded");
  assert.equal((await get(port, "/healthz", files.cert)).status, 200);

  await reloadFails(() => writeFileSync(files.cert, "no certificate"));
  assert.equal(await shownName(port), "second");
  assert.doesNotMatch(reloading.stdout(), /PRIVATE KEY/);
});

test("a client may negotiate HTTP/1.1 or HTTP/1.0 by ALPN", async () => {
  for (const protocols of [["http/1.1"], ["http/1.0"], ["h2", "http/1.1"], []]) {
    assert.equal(await shownName(server.port, { ALPNProtocols: protocols }), "first");
  }
  await assert.rejects(shownName(server.port, { ALPNProtocols: ["h2"] }));
});

/** A TCP connection that begins no handshake. */
async function openSilent({ port }: Server): Promise<{ socket: Socket; ended: Promise<unknown> }> {
  const socket = connectTcp({ port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => {});
  await once(socket, "connect");
  return { socket, ended: once(socket.resume(), "close") };
}

/**
 * Waits until something comes before the server's limit for handshakes, which ends a silent connection. A machine that
 * stands still for so long lets both come in any order, so it is tried again.
 */
async function comesBeforeLimit(begin: () => Promise<unknown>): Promise<void> {
  await until(async () => {
    const limit = await openSilent(server);
    const first = await Promise.race([limit.ended.then(() => "limit"), begin().then(() => "it")]);
    limit.socket.destroy();
    return first === "it";
  });
}

test("a connection without a handshake is closed after the limit for headers", async () => {
  const { socket } = await openSilent(server);
  await once(socket, "end");
  socket.destroy();
});

test("a connection that renegotiates again and again is closed", async () => {
  const socket = connect({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false, maxVersion: "TLSv1.2" });
  const again = () => void socket.renegotiate({ rejectUnauthorized: false }, (error) => error ?? again());
  socket.on("error", () => {}).on("secureConnect", again);
  await once(socket, "close");
});

test("a connection without a handshake does not delay the stop", async () => {
  await comesBeforeLimit(async () => {
    await using own = await startServer({ env: { ...FIRST, SHUTDOWN_TIMEOUT: "1h" } });
    const { socket } = await openSilent(own);
    // The response shows that the silent connection was accepted before.
    assert.equal((await get(own.port, "/healthz", pairs.first.cert)).status, 200);
    assert.deepEqual(await own.stop(), { code: 0, signal: null });
    socket.destroy();
  });
});

test("send-test reaches the server by its address, whatever name its certificate has", async () => {
  const { code, stdout, stderr } = await server.run(["events", "send-test"]);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).duplicate, false);
  const byUrl = await server.run(["events", "send-test", "--url", `${server.url}/webhook`]);
  assert.equal(byUrl.code, 0, byUrl.stderr);
});

test("an open connection continues when the pair changes", async (t) => {
  await useFirst();
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  t.after(() => agent.destroy());
  const ask = () =>
    new Promise<{ status: number | undefined; reused: boolean }>((resolve, reject) => {
      const sent = request({ port: reloading.port, host: "127.0.0.1", path: "/healthz", agent }, (response) => {
        response.resume().on("end", () => resolve({ status: response.statusCode, reused: sent.reusedSocket }));
      });
      sent.on("error", reject).end();
    });
  assert.deepEqual(await ask(), { status: 200, reused: false });

  use(files, pairs.second);
  await until(async () => (await shownName(reloading.port)) === "second");
  assert.deepEqual(await ask(), { status: 200, reused: true });
});

test("a key that is not the certificate's is refused at the start", async () => {
  const refused = await serveRefused({ TLS_CERT_FILE: pairs.first.cert, TLS_KEY_FILE: pairs.second.key });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /TLS_CERT_FILE and TLS_KEY_FILE are not a usable pair/);
  assert.doesNotMatch(refused.stderr, /PRIVATE KEY|\n\s+at /);
});

test("a key of another type than the certificate's is refused at the start and at a reload", async () => {
  await useFirst();
  const { privateKey } = generateKeyPairSync("ed25519");
  await reloadFails(() => writeFileSync(files.key, privateKey.export({ type: "pkcs8", format: "pem" })));
  assert.equal(await shownName(reloading.port), "first");
  const refused = await serveRefused({ TLS_CERT_FILE: files.cert, TLS_KEY_FILE: files.key });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /TLS_CERT_FILE and TLS_KEY_FILE are not a usable pair/);
});

test("unusable TLS files are reported together with all other bad settings", async () => {
  const empty = join(dir, "empty.pem");
  writeFileSync(empty, "");
  const refused = await serveRefused({
    PORT: "none",
    TLS_CERT_FILE: pairs.first.cert,
    TLS_KEY_FILE: pairs.second.key,
    REDIS_HOST: "localhost",
    REDIS_TLS: "true",
    REDIS_TLS_CA_FILE: empty,
  });
  assert.equal(refused.code, 2);
  for (const found of [/^error: TLS_CERT_FILE and .* usable pair/m, /^error: REDIS_TLS_CA_FILE /m, /^error: PORT /m])
    assert.match(refused.stderr, found);
  assert.equal(refused.stderr.match(/^error: /gm)?.length, 3);
});

test("a missing certificate file is refused at the start", async () => {
  const refused = await serveRefused({ TLS_CERT_FILE: join(dir, "missing"), TLS_KEY_FILE: pairs.first.key });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /TLS_CERT_FILE cannot be read/);
});

test("a client that has half closed a TLS connection gets its response", async () => {
  // Accepted by Node, but missing from the types.
  const halfOpen = { allowHalfOpen: true };
  const socket = connect({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false, ...halfOpen });
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await once(socket, "secureConnect");
  const body = JSON.stringify(event("half-closed"));
  const head = `POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Signature: ${signature(body)}\r\n`;
  socket.end(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  await once(socket, "end");
  socket.destroy();
  assert.match(text, /^HTTP\/1\.1 200 /);
});

test("a connection that the client closes before its handshake, e.g. a load balancer's check, is closed at once", async () => {
  await comesBeforeLimit(async () => {
    const { socket, ended } = await openSilent(server);
    socket.end();
    await ended;
  });
});
