import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestContext } from "../../src/http/endpoint.ts";
import { createReadiness, healthEndpoints } from "../../src/http/health.ts";
import { createLog } from "../../src/log.ts";

const CONTEXT = { requestId: "r", address: "127.0.0.1" } as RequestContext;

test("requests during a check share its result", async () => {
  let calls = 0;
  let answer = Promise.withResolvers<void>();
  const readiness = createReadiness({
    events() {
      calls++;
      return answer.promise;
    },
  });
  const endpoints = healthEndpoints({ readiness, instance: "this start", log: createLog("silent") });
  const ready = async () => endpoints.find(({ path }) => path === "/readyz")?.handler(CONTEXT);
  const asked = Array.from({ length: 1000 }, ready);
  assert.equal(calls, 1);
  answer.resolve();
  assert.deepEqual(new Set((await Promise.all(asked)).map((reply) => reply?.status)), new Set([200]));

  answer = Promise.withResolvers<void>();
  const again = ready();
  answer.reject(new Error("gone"));
  assert.equal((await again)?.status, 503);
  assert.equal(calls, 2);
});
