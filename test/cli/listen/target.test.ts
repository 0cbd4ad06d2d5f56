import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { createTarget } from "../../../src/cli/listen/target.ts";
import { NOW } from "../../helpers/events.ts";

/** A program that answers each request with these bytes, and keeps the connection. */
async function program(t: TestContext, answer: string) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    socket.once("data", () => socket.write(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const target = createTarget({ url, loopback: null }, { as: "route", key: null, route: null });
  return { target, sockets };
}

const EVENT = {
  ...{ id: 1, source: "a", eventId: "e", type: "push", receivedAt: NOW, cursor: "1-1" },
  content: { payload: Buffer.from("{}"), contentType: "application/json", headers: "{}" },
};

suite("the program that a listener sends events to", () => {
  for (const [what, answer, status] of [
    ["switches the protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", 101],
    ["has headers of 40 KB", `HTTP/1.1 200 OK\r\nX-Debug: ${"x".repeat(40_000)}\r\nContent-Length: 0\r\n\r\n`, 200],
    ["ends lines without CR", "HTTP/1.1 404 No\nContent-Length: 0\n\n", 404],
    ["writes a header wrongly", "HTTP/1.1 200 OK\r\nX-Bad : a\r\nContent-Length: 0\r\n\r\n", 200],
  ] as const) {
    test(`is shown with its status if it ${what}`, async (t) => {
      const { target } = await program(t, answer);
      const sent = await target.send(EVENT, false);
      assert.equal(sent.isAway || sent.answer.status, status);
    });
  }

  test("is left at the end, also if its answer goes on", async (t) => {
    const { target, sockets } = await program(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    await target.send(EVENT, false);
    const closed = once(sockets[0] as Socket, "close");
    target.close();
    await closed;
  });
});
