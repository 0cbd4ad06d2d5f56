import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { ask, assertProblem, deliver, event, post } from "../helpers/client.ts";
import { openRaw, statusesIn } from "../helpers/raw-http.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { PLAUSIBLE, signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";

const MEGABYTE = 1024 * 1024;

/** The memory of a process, in MB. */
const residentMb = (pid: number) =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;

/** Begins a delivery that does not end, with a well-formed but wrong signature. Resolves when all bytes are handed to the system. */
async function begin(
  t: TestContext,
  server: Server,
  header: string,
  part: string | Buffer,
  { parts = 1, from = "127.0.0.1" } = {},
) {
  const socket = await openRaw(server.port, from);
  t.after(() => socket.destroy());
  const signed = header.includes("X-Signature") ? header : `${header}\r\nX-Signature: ${PLAUSIBLE}`;
  socket.write(`POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${signed}\r\n\r\n`);
  for (let sent = 0; sent < parts; sent++) await new Promise((resolve) => socket.write(part, resolve));
  return socket;
}

test("bodies in chunks of one byte take no more memory than their size", async (t) => {
  await using server = await startServer();
  await ask(server, "/healthz");
  const before = residentMb(server.pid);
  const pieces = "1\r\na\r\n".repeat(10_000);
  let most = 0;
  let answered = 0;
  const sending = [1, 2, 3, 4].map(async () => {
    const socket = await begin(t, server, "Transfer-Encoding: chunked", pieces, { parts: 50 });
    const answer = once(socket, "data");
    socket.write("0\r\n\r\n");
    assert.deepEqual(statusesIn(String(await answer)), [403]);
    answered++;
  });
  await until(() => {
    most = Math.max(most, residentMb(server.pid));
    return answered === sending.length;
  }, 30_000);
  await Promise.all(sending);
  t.diagnostic(`grown by ${(most - before).toFixed(0)} MB`);
  // Kept as received, the chunks would take over 700 MB. Uncollected garbage is up to 250 MB.
  assert.ok(most - before < 400);
});

/** A new address for every twelve senders, so that no address reaches its share. */
const addressOf = (count: number) => `127.0.0.${2 + Math.floor(count / 12)}`;

test("unfinished bodies are limited to 64 MiB in total, and small deliveries do not count", async (t) => {
  await using server = await startServer();
  const part = Buffer.alloc(MEGABYTE - 1, "a");
  const refused: string[] = [];
  const sockets: Socket[] = [];
  for (let count = 0; count < 80; count++) {
    const socket = await begin(t, server, `Content-Length: ${MEGABYTE}`, part, { from: addressOf(count) });
    socket.on("data", (chunk) => refused.push(String(chunk)));
    sockets.push(socket);
  }
  await until(() => refused.length >= 16, 10_000);
  assert.deepEqual(new Set(refused.flatMap(statusesIn)), new Set([503]));
  assert.match(refused[0] ?? "", /^Retry-After: [0-9]+\r$/im);
  assert.match(refused[0] ?? "", /"code":"queue_full"/);
  assert.equal((await deliver(server, event("small"))).status, 200);
  const body = JSON.stringify(event("in two pieces"));
  const small = await begin(
    t,
    server,
    `Content-Length: ${body.length}\r\nX-Signature: ${signature(body)}`,
    body.slice(0, 9),
  );
  const answer = once(small, "data");
  small.write(body.slice(9));
  assert.deepEqual(statusesIn(String(await answer)), [200]);

  const large = JSON.stringify({ ...event("large"), filler: "x".repeat(MEGABYTE - 4096) });
  const send = () => post(server, "/webhook", large, { "X-Signature": signature(large) });
  assertProblem(await send(), 503, "queue_full");
  for (const socket of sockets) socket.destroy();
  await until(async () => (await send()).status === 200, 10_000);
});

test("unfinished bodies from one address leave memory for those from others", async (t) => {
  await using server = await startServer();
  const part = Buffer.alloc(MEGABYTE - 1, "a");
  let refused = 0;
  for (let count = 0; count < 72; count++) {
    const socket = await begin(t, server, `Content-Length: ${MEGABYTE}`, part, { from: "127.0.0.2" });
    socket.once("data", () => refused++);
  }
  await until(() => refused >= 56, 10_000);
  const large = JSON.stringify({ ...event("large"), filler: "x".repeat(MEGABYTE - 4096) });
  const sent = await post(server, "/webhook", large, { "X-Signature": signature(large) });
  assert.equal(sent.status, 200);
});

test("the memory of a refused body is released, even while its sender stays connected", async (t) => {
  await using server = await startServer();
  const part = Buffer.alloc(MEGABYTE, "a");
  // Half a megabyte is left.
  for (let count = 0; count < 63; count++) {
    await begin(t, server, `Content-Length: ${MEGABYTE}`, part.subarray(1), { from: addressOf(count) });
  }
  await begin(t, server, "Content-Length: 300000", part.subarray(0, 299_999));
  let refused = 0;
  const sendMore = async () => {
    const socket = await begin(t, server, `Content-Length: ${MEGABYTE}`, part.subarray(0, 800_000));
    socket.once("data", (chunk) => {
      if (String(chunk).startsWith("HTTP/1.1 503")) refused++;
    });
  };
  // When another body is refused, the server has read all of those above.
  await until(async () => {
    await sendMore();
    return refused > 0;
  });
  const before = residentMb(server.pid);
  for (let count = 0; count < 500; count++) await sendMore();
  // Some may have been accepted before one of those above.
  await until(() => refused >= 490, 20_000);
  const grown = residentMb(server.pid) - before;
  t.diagnostic(`grown by ${grown.toFixed(0)} MB`);
  assert.ok(grown < 100);
});
