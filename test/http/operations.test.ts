import assert from "node:assert/strict";
import { test } from "node:test";
import { readyRoute } from "../../src/http/operations.ts";
import type { Exchange } from "../../src/http/route.ts";
import { createLog } from "../../src/log.ts";

const EXCHANGE = { requestId: "r", address: "127.0.0.1" } as Exchange;

test("whoever asks while a store has not answered shares its answer", async () => {
  let calls = 0;
  let answer = Promise.withResolvers<void>();
  const ready = readyRoute(
    {
      events() {
        calls++;
        return answer.promise;
      },
    },
    "this start",
    createLog("silent"),
  );
  const asked = Array.from({ length: 1000 }, () => ready(EXCHANGE));
  assert.equal(calls, 1);
  answer.resolve();
  assert.deepEqual(new Set((await Promise.all(asked)).map(({ status }) => status)), new Set([200]));

  answer = Promise.withResolvers<void>();
  const again = ready(EXCHANGE);
  answer.reject(new Error("gone"));
  assert.equal((await again).status, 503);
  assert.equal(calls, 2);
});
