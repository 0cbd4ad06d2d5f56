import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { findPort, listen, listenFailure } from "../../src/http/listen.ts";

test("a system that cannot share a port between threads is told of by the name of the setting", () => {
  const { message, exitCode } = listenFailure("ENOTSUP", 3000);
  assert.match(message, /^HTTP_THREADS: .*set HTTP_THREADS to 1$/);
  assert.equal(exitCode, 2);
});

test("a port is not found free while listeners share it", async (t) => {
  const host = "127.0.0.1";
  const port = await findPort({ port: 0, host });
  const listeners = [createServer(), createServer()];
  t.after(() => {
    for (const listener of listeners) listener.close();
  });
  for (const listener of listeners) assert.equal(await listen(listener, { port, host, reusePort: true }), port);
  await assert.rejects(findPort({ port, host }), /is in use/);
});
