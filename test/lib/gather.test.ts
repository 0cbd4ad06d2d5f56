import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gather } from "../../src/lib/gather.ts";

const MOST = 32;

/** Gives so many items in each turn of the event loop, and tells in which turns they were run. */
async function ranInTurns(perTurn: readonly number[]): Promise<number[]> {
  let turn = 0;
  const ran: number[] = [];
  const add = gather(() => ran.push(turn), MOST);
  for (const count of perTurn) {
    turn++;
    for (let i = 0; i < count; i++) add(undefined);
    await nextTurn();
  }
  return ran;
}

suite("what is gathered", () => {
  test("is run when the next turn brings no more", async () => {
    assert.deepEqual(await ranInTurns([3, 0, 0]), [2, 2, 2]);
  });

  test("waits as long as each turn brings more", async () => {
    assert.deepEqual(await ranInTurns([1, 2, 1, 0, 0]), [4, 4, 4, 4]);
  });

  test("waits for no more than the most, however many come", async () => {
    const turns = [...Array<number>(MOST).fill(MOST), ...Array<number>(MOST).fill(2 * MOST)];
    assert.deepEqual(await ranInTurns(Array<number>(2 * MOST).fill(1)), turns);
    assert.deepEqual(await ranInTurns([40, 0]), Array<number>(40).fill(1));
  });

  test("is gathered anew behind what was run", async () => {
    assert.deepEqual(await ranInTurns([1, 0, 0, 2, 0, 0]), [2, 5, 5]);
  });
});
