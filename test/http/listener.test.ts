import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { H3 } from "h3";
import { createListener, TextResponse } from "../../src/http/listener.ts";

/** Hands over so many requests in each turn of the event loop, and tells in which turns they were answered. */
async function answeredInTurns(perTurn: readonly number[]): Promise<number[]> {
  let turn = 0;
  const answered: number[] = [];
  const fetch = () => {
    answered.push(turn);
    return new Promise(() => {});
  };
  const listener = createListener({ fetch } as unknown as H3);
  for (const count of perTurn) {
    turn++;
    for (let i = 0; i < count; i++) {
      const request = { headers: {} } as IncomingMessage;
      listener(request, { req: request } as ServerResponse<IncomingMessage> & { req: IncomingMessage });
    }
    await nextTurn();
  }
  return answered;
}

suite("requests", () => {
  test("of one turn are answered when the next one brings no more", async () => {
    assert.deepEqual(await answeredInTurns([3, 0, 0]), [2, 2, 2]);
  });

  test("wait for each other as long as each turn brings more", async () => {
    assert.deepEqual(await answeredInTurns([1, 2, 1, 0, 0]), [4, 4, 4, 4]);
  });

  test("wait for no more than 32, however many come", async () => {
    assert.deepEqual(await answeredInTurns(Array<number>(64).fill(1)), [
      ...Array<number>(32).fill(32),
      ...Array<number>(32).fill(64),
    ]);
    assert.deepEqual(await answeredInTurns([40, 0]), Array<number>(40).fill(1));
  });

  test("that come behind others are answered, too", async () => {
    assert.deepEqual(await answeredInTurns([1, 0, 0, 2, 0, 0]), [2, 5, 5]);
  });
});

for (const text of ["plain", "é and €, 🎉", ""]) {
  test(`the answer "${text}" arrives whole`, async () => {
    const head = { status: 200, statusText: "OK", headers: { "Content-Length": String(Buffer.byteLength(text)) } };
    const app = { fetch: () => new TextResponse(text, head) };
    const server = createServer(createListener(app as unknown as H3)).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), Buffer.from(text, "utf8"));
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}
