import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { Agent, get, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { hashPassword } from "../../src/auth/password.ts";
import { openDatabase } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { needsSilentDns } from "../helpers/back-end.ts";
import { ask, deliver, event, logIn, me } from "../helpers/client.ts";
import { EXECUTABLE, type Exit, startProgram } from "../helpers/command.ts";
import { EMAIL } from "../helpers/credentials.ts";
import { newEvent } from "../helpers/events.ts";
import { HEALTH, openRaw, sendRaw, statusesIn } from "../helpers/raw-http.ts";
import { type Server, settings, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { startSilentDns } from "../helpers/silent-dns.ts";
import { settled, show } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const BODY = JSON.stringify(event("in-flight"));

/** Begins a delivery without the end of its body. */
async function openDelivery(port: number, body = BODY): Promise<{ finish(): void; answer: Promise<string> }> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const answer = new Promise<string>((resolve) => {
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
  const head = [
    "POST /webhook HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    "Expect: 100-continue",
    `Content-Length: ${body.length}`,
    `X-Signature: ${signature(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 5)}`);
  // 100 Continue shows that the server handles the request.
  await until(() => text.startsWith("HTTP/1.1 100"));
  return { finish: () => void socket.write(body.slice(5)), answer };
}

// A stop that waits for what it should not wait for takes longer than any test.
const ENDLESS = { SHUTDOWN_TIMEOUT: "1h" };

async function assertStops(server: Server): Promise<void> {
  const exit = server.stop();
  await server.logged("server_stopped");
  assert.deepEqual(await exit, { code: 0, signal: null });
}

/**
 * Sends a signal again and again, because one right after the first counts as the same. Returns how the process ends.
 */
async function signalUntilEnd(process: { signal(): void; exited: Promise<Exit> }): Promise<Exit> {
  const again = setInterval(process.signal, 50);
  return process.exited.finally(() => clearInterval(again));
}

const isRefused = (server: Server) =>
  ask(server, "/healthz", { headers: { Connection: "close" } }).then(
    () => false,
    () => true,
  );

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} answers the request in flight, stores its event, refuses new connections and exits with 0`, async () => {
    await using server = await startServer({ env: ENDLESS });
    const delivery = await openDelivery(server.port);
    server.signal(signal);
    await server.logged("server_stopping");
    await until(() => isRefused(server));
    delivery.finish();
    const answer = await delivery.answer;
    assert.match(answer, /HTTP\/1\.1 200 OK/);
    assert.match(answer, /"received":true/);
    assert.match(answer, /\r\nConnection: close\r\n/i);
    assert.deepEqual(await server.exited, { code: 0, signal: null });
    assert.equal(server.log().at(-1)?.event, "server_stopped");
    assert.equal((await show(server, "in-flight")).payload, BODY);
  });
}

test("events received while the server stops are processed as long as requests are in flight", async () => {
  await using server = await startServer({ env: ENDLESS });
  const [first, last] = await Promise.all([openDelivery(server.port), openDelivery(server.port, '{"id":"last"}')]);
  server.signal("SIGTERM");
  await server.logged("server_stopping");
  await until(() => isRefused(server));
  first.finish();
  await settled(server, "in-flight");
  last.finish();
  assert.match(await last.answer, /HTTP\/1\.1 200 OK/);
  assert.deepEqual(await server.exited, { code: 0, signal: null });
});

test("a second signal ends the process at once, even if a request is in flight", async () => {
  await using server = await startServer({ env: ENDLESS });
  await openDelivery(server.port);
  server.signal("SIGTERM");
  await server.logged("server_stopping");
  const exit = await signalUntilEnd({ signal: () => server.signal("SIGTERM"), exited: server.exited });
  assert.deepEqual(exit, { code: 1, signal: null });
  assert.deepEqual(server.log("server_stopped"), []);
});

for (const reached of ["server_stopping", "server_stopped"]) {
  test(
    `a second signal after ${reached} ends the process at once, even if a DNS query hangs`,
    needsSilentDns(),
    async () => {
      using dns = await startSilentDns();
      const dir = workingDir();
      const database = openDatabase(join(dir, "data"));
      await localStores(database).events.append([newEvent({ receivedAt: Date.now() })]);
      database.close();
      const SHUTDOWN_TIMEOUT = reached === "server_stopping" ? "1h" : "100ms";
      const env = settings(dir, { FORWARD_URL: "http://target.test/", SHUTDOWN_TIMEOUT });
      const server = dns.startProgram(EXECUTABLE, ["serve"], { dir, env });
      await until(() => dns.queries() > 0);
      server.child.kill("SIGTERM");
      await until(() => server.stdout().includes(reached));
      const exit = await signalUntilEnd({ signal: () => server.child.kill("SIGTERM"), exited: server.exited });
      assert.deepEqual(exit, { code: null, signal: "SIGKILL" });
      assert.match(server.stderr(), /Stopped at once by a second signal/);
    },
  );
}

test("an endless request is cut off at SHUTDOWN_TIMEOUT and the process exits with 0", async () => {
  await using server = await startServer({ env: { SHUTDOWN_TIMEOUT: "300ms" } });
  const delivery = await openDelivery(server.port);
  const startedAt = performance.now();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.ok(performance.now() - startedAt >= 290);
  // Neither answered nor ended by the limit for requests.
  assert.deepEqual(statusesIn(await delivery.answer), [100]);
});

test("a signal that arrives twice at once counts as one", async () => {
  await using server = await startServer();
  // A process that is stopped gets both when it goes on.
  for (const name of ["SIGSTOP", "SIGTERM", "SIGINT", "SIGCONT"] as const) server.signal(name);
  assert.deepEqual(await server.exited, { code: 0, signal: null });
});

test("SIGHUP does nothing to a server without a terminal", async () => {
  await using server = await startServer();
  server.signal("SIGHUP");
  assert.equal((await ask(server, "/healthz")).status, 200);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test("a server stops when its terminal is closed", async () => {
  const dir = workingDir();
  const code = join(dir, "code");
  // The inner shell stays alive to report how the server ended.
  const line = `(trap '' HUP; ${EXECUTABLE} serve; echo $? >${code}); true`;
  const terminal = startProgram("script", ["-qec", line, "/dev/null"], {
    dir,
    env: settings(dir, { LOG_FORMAT: "json" }),
    keepInputOpen: true,
  });
  await until(() => terminal.stdout().includes("server_started"));
  terminal.child.kill("SIGKILL");
  assert.equal(await until(() => existsSync(code) && readFileSync(code, "utf8").trim()), "0");
});

test("an idle keep-alive connection does not delay the stop", async () => {
  await using server = await startServer({ env: ENDLESS });
  const idle = await openRaw(server.port);
  idle.write(HEALTH);
  await once(idle, "data");
  await assertStops(server);
});

test("a running attempt is finished before the process ends", async () => {
  await using target = await startTarget();
  await using server = await startServer({ env: { FORWARD_URL: target.url, HANDLER_TIMEOUT: "1h", ...ENDLESS } });
  const answers: ServerResponse[] = [];
  target.answer((_, response) => void answers.push(response));
  await deliver(server, event("in-work"));
  await until(() => answers.length === 1);
  server.signal("SIGTERM");
  await until(() => isRefused(server));
  answers[0]?.writeHead(200).end();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  const stored = await show(server, "in-work");
  assert.deepEqual([stored.status, stored.attempts], ["processed", 1]);
});

test("an event whose handler outlasts the shutdown is queued again and processed after the next start", async () => {
  await using target = await startTarget();
  await using first = await startServer({ env: { FORWARD_URL: target.url, SHUTDOWN_TIMEOUT: "200ms" } });
  target.answer(() => {});
  await deliver(first, event("outlasts"));
  await until(() => target.of("outlasts").length === 1);
  assert.deepEqual(await first.stop(), { code: 0, signal: null });
  assert.equal((await show(first, "outlasts")).status, "queued");
  target.answer((_, response) => void response.writeHead(200).end());
  await using second = await startServer({ env: { FORWARD_URL: target.url }, dir: first.dir });
  await settled(second, "outlasts");
  assert.equal((await show(second, "outlasts")).status, "processed");
  assert.equal(target.of("outlasts").length, 2);
});

test("a session survives kill -9", async () => {
  await using first = await startServer();
  const token = await logIn(first);
  await first.kill();
  await using second = await startServer({ dir: first.dir });
  assert.equal((await me(second, token)).status, 200);
});

/** For how long a server that stops leaves an idle connection open. A client that stalls for longer may lose one. */
const IDLE_MS = 100;

test("requests sent while the server stops are answered, or their connection is refused", async () => {
  // On a machine that stalls it is tried again.
  await until(async () => {
    await using server = await startServer();
    const agent = new Agent({ keepAlive: true });
    const failures: unknown[] = [];
    let answered = 0;
    let longestMs = 0;
    async function keepAsking(): Promise<void> {
      for (;;) {
        const sentAt = performance.now();
        try {
          const sent = get({ port: server.port, host: "127.0.0.1", path: "/healthz", agent });
          const [response] = await once(sent, "response");
          await once(response.resume(), "end");
          answered++;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") failures.push(error);
          return;
        } finally {
          longestMs = Math.max(longestMs, performance.now() - sentAt);
        }
      }
    }
    const asking = Promise.all(Array.from({ length: 16 }, keepAsking));
    await until(() => answered > 200);
    longestMs = 0;
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    await asking;
    agent.destroy();
    if (longestMs < 0.5 * IDLE_MS) assert.deepEqual(failures, []);
    return failures.length === 0;
  });
});

const HEAD = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
const CREDENTIALS = JSON.stringify({ email: EMAIL, password: "wrong password" });
const RAW_LOGIN = `POST /auth/login ${HEAD}Content-Length: ${CREDENTIALS.length}\r\n\r\n${CREDENTIALS}`;

test("requests pipelined after a slow one are answered before the server stops", async () => {
  const slow = await hashPassword("a password", { memoryKib: 65_536, passes: 4 });
  await using server = await startServer({ env: { DEMO_PASSWORD: slow, ...ENDLESS } });
  const delivered = `POST /webhook ${HEAD}X-Signature: ${signature(BODY)}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
  const answer = sendRaw(server.port, RAW_LOGIN.repeat(3) + delivered);
  await server.logged("event_received");
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.deepEqual(statusesIn((await answer).text), [401, 401, 401, 200]);
});

test("a request that was answered before its body ended does not delay the stop", async () => {
  await using server = await startServer({ env: ENDLESS });
  const socket = await openRaw(server.port);
  const ended = once(socket, "close");
  socket.write("POST /nothing-here HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nab");
  await once(socket, "data");
  await assertStops(server);
  await ended;
});

test("a stop waits for slow responses before an endless request, and answers it", async () => {
  // All of them take longer than the second for which a stop leaves an endless request alone.
  const slow = await hashPassword("a password", { memoryKib: 131_072, passes: 4 });
  await using server = await startServer({ env: { DEMO_PASSWORD: slow, ...ENDLESS } });
  const unfinished = `POST /nothing-here ${HEAD}Content-Length: 10\r\n\r\n`;
  const answer = sendRaw(server.port, RAW_LOGIN.repeat(5) + unfinished);
  await server.logged("login_failed");
  await assertStops(server);
  assert.deepEqual(statusesIn((await answer).text), [...Array(5).fill(401), 404]);
});
