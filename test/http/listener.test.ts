import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { H3 } from "h3";
import { createListener } from "../../src/http/listener.ts";

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
