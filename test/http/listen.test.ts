import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { findPort, listen, listenFailure } from "../../src/http/listen.ts";

for (const [code, message] of [
  ["ENOTSUP", /^HTTP_THREADS is .*: set HTTP_THREADS to 1$/],
  ["EADDRINUSE", /^PORT 3000 is in use: .*set another PORT$/],
  ["ENOTFOUND", /^HOST cannot be resolved: set HOST to /],
  ["EAI_AGAIN", /^HOST cannot be resolved: set HOST to /],
  ["EINVAL", /^HOST is not usable: set HOST to .*that needs no zone/],
  ["EAFNOSUPPORT", /^HOST and PORT 3000 cannot be listened on \(EAFNOSUPPORT\): check both$/],
] as const) {
  test(`${code} is told of by the setting to change`, () => {
    const failure = listenFailure(code, 3000);
    assert.match(failure.message, message);
    assert.equal(failure.exitCode, 2);
  });
}

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
