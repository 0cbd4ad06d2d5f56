import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedReads } from "../../src/auth/shared-reads.ts";

function recordedReads() {
  const reads: string[] = [];
  const state = { value: "first" };
  const read = sharedReads(async (key) => {
    reads.push(key);
    return `${key}: ${state.value}`;
  });
  return { read, reads, state };
}

test("all who ask in one turn of the event loop share one read per key", async () => {
  const { read, reads } = recordedReads();
  const answers = await Promise.all([read("a"), read("b"), read("a"), read("a")]);
  assert.deepEqual(answers, ["a: first", "b: first", "a: first", "a: first"]);
  assert.deepEqual(reads, ["a", "b"]);
});

test("a read sees everything that was written before it was asked for", async () => {
  const { read, state } = recordedReads();
  const early = read("a");
  state.value = "second";
  const late = read("a");
  assert.deepEqual(await Promise.all([early, late]), ["a: second", "a: second"]);
  state.value = "third";
  assert.equal(await read("a"), "a: third");
});

test("a question that comes while a read is under way gets a read of its own", async () => {
  const answers: ((value: string) => void)[] = [];
  const read = sharedReads(() => new Promise<string>((resolve) => answers.push(resolve)));
  const early = read("a");
  await new Promise(setImmediate);
  assert.equal(answers.length, 1);
  const late = read("a");
  await new Promise(setImmediate);
  assert.equal(answers.length, 2);
  answers[0]?.("old");
  answers[1]?.("new");
  assert.deepEqual(await Promise.all([early, late]), ["old", "new"]);
});

test("a read that fails fails for all who share it, and the next one is tried again", async () => {
  let fails = true;
  const read = sharedReads(async () => {
    if (fails) throw new Error("down");
    return "up";
  });
  const outcomes = await Promise.allSettled([read("a"), read("a")]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  fails = false;
  assert.equal(await read("a"), "up");
});
