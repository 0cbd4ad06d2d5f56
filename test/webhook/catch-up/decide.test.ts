import assert from "node:assert/strict";
import { test } from "node:test";
import { grouped } from "../../../src/webhook/catch-up/decide.ts";
import type { ListedAttempt } from "../../../src/webhook/provider/catch-up.ts";

const attempt = (item: string, at: number | null) => ({ item, at, outcome: "failed" }) as ListedAttempt;

test("events of one second, which a provider lists newest first, are asked for in the order in which they were due", () => {
  const listed = [attempt("d", 2000), attempt("c", 1000), attempt("b", 1000), attempt("a", 1000), attempt("0", 0)];
  assert.deepEqual(
    grouped(listed).map(({ item }) => item),
    ["0", "a", "b", "c", "d"],
  );
});
