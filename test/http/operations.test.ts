import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestContext } from "../../src/http/endpoint.ts";
import { createReadiness, readyEndpoint } from "../../src/http/operations.ts";
import { createLog } from "../../src/log.ts";

const CONTEXT = { requestId: "r", address: "127.0.0.1" } as RequestContext;

test("requests during a check share its result", async () => {
  let calls = 0;
  let answer = Promise.withResolvers<void>();
  const ready = readyEndpoint(
    createReadiness({
      events() {
        calls++;
        return answer.promise;
      },
    }),
    "this start",
    createLog("silent"),
  );
  const asked = Array.from({ length: 1000 }, () => ready(CONTEXT));
  assert.equal(calls, 1);
  answer.resolve();
  assert.deepEqual(new Set((await Promise.all(asked)).map(({ status }) => status)), new Set([200]));

  answer = Promise.withResolvers<void>();
  const again = ready(CONTEXT);
  answer.reject(new Error("gone"));
  assert.equal((await again).status, 503);
  assert.equal(calls, 2);
});
