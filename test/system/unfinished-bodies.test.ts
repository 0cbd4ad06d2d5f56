import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { assertProblem, deliver, event, post } from "../helpers/client.ts";
import { openRaw, statusesIn } from "../helpers/raw-http.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { PLAUSIBLE, signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";

const MEGABYTE = 1024 * 1024;

/** The memory of a process, in MB. */
const residentMb = (pid: number) =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;

/**
 * Begins a delivery that does not end, with a well-formed but wrong signature. Resolves when all bytes are handed to
 * the system.
 */
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
  socket.write(`POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${signed}\r\n\r\n`);
  for (let sent = 0; sent < parts; sent++) await new Promise((resolve) => socket.write(part, resolve));
  return socket;
}

/**
 * Runs a round until its bodies were sent in time: after 30 s the server answers 408 to one that is unfinished, and
 * forgets it. A round returns what the bodies were answered with.
 */
async function inTime(round: () => Promise<string[]>): Promise<void> {
  await until(async () => !(await round()).flatMap(statusesIn).includes(408));
}

test("bodies in chunks of one byte take no more memory than their size", async (t) => {
  // Kept as received, the chunks would not fit.
  await using server = await startServer({ env: { NODE_OPTIONS: "--max-old-space-size=64" } });
  const pieces = "1\r\na\r\n".repeat(10_000);
  await inTime(() =>
    Promise.all(
      [1, 2, 3].map(async () => {
        const socket = await begin(t, server, "Transfer-Encoding: chunked", pieces, { parts: 15 });
        const answer = once(socket, "data");
        socket.write("0\r\n\r\n");
        const text = String(await answer);
        assert.ok([403, 408].includes(statusesIn(text)[0] ?? 0), text);
        return text;
      }),
    ),
  );
});

/** A new address for every twelve senders, so that no address reaches its share. */
const addressOf = (count: number) => `127.0.0.${2 + Math.floor(count / 12)}`;

const LARGE = JSON.stringify({ ...event("large"), filler: "x".repeat(MEGABYTE - 4096) });
const sendLarge = (server: Server) => post(server, "/webhook", LARGE, { "X-Signature": signature(LARGE) });

test("unfinished bodies are limited to 64 MiB in total, and small deliveries do not count", async (t) => {
  await using server = await startServer();
  const part = Buffer.alloc(MEGABYTE - 1, "a");
  await inTime(async () => {
    const answers: string[] = [];
    const sockets: Socket[] = [];
    for (let count = 0; count < 80; count++) {
      const socket = await begin(t, server, `Content-Length: ${MEGABYTE}`, part, { from: addressOf(count) });
      socket.on("data", (chunk) => answers.push(String(chunk)));
      sockets.push(socket);
    }
    await until(() => answers.length >= 16);
    const refused = answers.find((text) => !statusesIn(text).includes(408)) ?? "";
    assert.deepEqual(statusesIn(refused), [503]);
    assert.match(refused, /^Retry-After: [0-9]+\r$/im);
    assert.match(refused, /"code":"queue_full"/);
    assert.equal((await deliver(server, event("small"))).status, 200);
    const body = JSON.stringify(event("in two pieces"));
    const header = `Content-Length: ${body.length}\r\nX-Signature: ${signature(body)}`;
    const small = await begin(t, server, header, body.slice(0, 9));
    const answer = once(small, "data");
    small.write(body.slice(9));
    assert.deepEqual(statusesIn(String(await answer)), [200]);

    const full = await sendLarge(server);
    if (full.status === 200) await until(() => answers.flatMap(statusesIn).includes(408));
    else assertProblem(full, 503, "queue_full");
    for (const socket of sockets) socket.destroy();
    await until(async () => (await sendLarge(server)).status === 200);
    return answers;
  });
});

test("unfinished bodies from one address leave memory for those from others", async (t) => {
  await using server = await startServer();
  const part = Buffer.alloc(MEGABYTE - 1, "a");
  let refused = 0;
  for (let count = 0; count < 72; count++) {
    const socket = await begin(t, server, `Content-Length: ${MEGABYTE}`, part, { from: "127.0.0.2" });
    socket.once("data", () => refused++);
  }
  await until(() => refused >= 56);
  assert.equal((await sendLarge(server)).status, 200);
});

test("the memory of a refused body is released, even while its sender stays connected", async (t) => {
  await using server = await startServer();
  const part = Buffer.alloc(MEGABYTE, "a");
  await inTime(async () => {
    const sockets: Socket[] = [];
    const answers: string[] = [];
    const send = async (length: number, bytes: Buffer, from?: string) => {
      const socket = await begin(t, server, `Content-Length: ${length}`, bytes, from === undefined ? {} : { from });
      socket.once("data", (chunk) => answers.push(String(chunk)));
      sockets.push(socket);
    };
    const refused = () => answers.filter((text) => text.startsWith("HTTP/1.1 503")).length;
    // Half a megabyte is left.
    for (let count = 0; count < 63; count++) await send(MEGABYTE, part.subarray(1), addressOf(count));
    await send(300_000, part.subarray(0, 299_999));
    const sendMore = () => send(MEGABYTE, part.subarray(0, 800_000));
    // When another body is refused, the server has read all of those above.
    await until(async () => {
      await sendMore();
      return refused() > 0;
    });
    const before = residentMb(server.pid);
    for (let batch = 0; batch < 30; batch++) await Promise.all(Array.from({ length: 10 }, sendMore));
    // Some may have been accepted before one of those above.
    await until(() => refused() >= 290 || answers.flatMap(statusesIn).includes(408));
    const grown = residentMb(server.pid) - before;
    for (const socket of sockets) socket.destroy();
    const isLate = answers.flatMap(statusesIn).includes(408);
    t.diagnostic(`grown by ${grown.toFixed(0)} MB`);
    assert.ok(isLate || grown < 100);
    return answers;
  });
});
