import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gather } from "../../src/http/router.ts";

const MOST = 32;

/** Adds this many items in each turn of the event loop, and returns the turn in which each was run. */
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

suite("gathered items", () => {
  test("are run when the next turn brings no more", async () => {
    assert.deepEqual(await ranInTurns([3, 0, 0]), [2, 2, 2]);
  });

  test("wait while each turn brings more", async () => {
    assert.deepEqual(await ranInTurns([1, 2, 1, 0, 0]), [4, 4, 4, 4]);
  });

  test("are run once there are as many as the maximum", async () => {
    const turns = [...Array<number>(MOST).fill(MOST), ...Array<number>(MOST).fill(2 * MOST)];
    assert.deepEqual(await ranInTurns(Array<number>(2 * MOST).fill(1)), turns);
    assert.deepEqual(await ranInTurns([40, 0]), Array<number>(40).fill(1));
  });

  test("are gathered again after a run", async () => {
    assert.deepEqual(await ranInTurns([1, 0, 0, 2, 0, 0]), [2, 5, 5]);
  });
});
