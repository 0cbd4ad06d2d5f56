import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { startServer } from "../helpers/server.ts";
import { settled, showJob } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";

const target = await startTarget();
const server = await startServer({ env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "5" } });
after(() => server[Symbol.asyncDispose]());
after(() => target[Symbol.asyncDispose]());

// These tests wait for timeouts. In parallel they take as long as the longest.
describe("timeouts", { concurrency: true }, () => {
  test("the default policy makes attempts 1, 2, 4 and 8 seconds apart", async () => {
    target.answer((_, response) => void response.writeHead(500).end());
    await deliver(server, event("spaced"));
    await settled(server, "spaced", "event_dead_lettered");
    const at = target.of("spaced").map((request) => request.at);
    const ends = (await showJob(server, "spaced")).history.map(({ finishedAt }) => Date.parse(finishedAt));
    const due = server.log("event_retried").map(({ runAt }) => Date.parse(String(runAt)));
    assert.equal(at.length, 5);
    for (const [index, expected] of [1000, 2000, 4000, 8000].entries()) {
      const gap = (at[index + 1] ?? 0) - (at[index] ?? 0);
      const decided = (due[index] ?? 0) - (ends[index] ?? 0);
      assert.ok(decided >= expected * 0.8 && decided <= expected * 1.2, `wait ${index + 1} was to be ${decided} ms`);
      // A slow machine makes a wait longer, never shorter: the attempt ends after its request has come.
      assert.ok(gap >= decided - 5, `wait ${index + 1} took ${gap} ms`);
    }
  });

  // Node's default for headers is a minute, which is longer than this waits.
  test("B6 an endless header is answered 408 and the connection is closed", async () => {
    const answer = await sendRaw(server.port, "GET /auth/me HTTP/1.1\r\nHost: local");
    assert.equal(answer.status, 408);
    assert.equal(JSON.parse(answer.body).code, "request_timeout");
  });

  test("a connection that sends nothing is closed", async () => {
    assert.equal((await sendRaw(server.port, "")).status, 408);
  });
});
