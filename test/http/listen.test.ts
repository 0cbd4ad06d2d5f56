import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { isLoopback, listen, listenFailure } from "../../src/http/listen.ts";

for (const [code, message] of [
  ["EADDRINUSE", /^PORT 3000 is in use: .*set another PORT$/],
  ["ENOTFOUND", /^HOST cannot be resolved: set HOST to /],
  ["EAI_AGAIN", /^HOST cannot be resolved: set HOST to /],
  ["EINVAL", /^HOST is not usable: set HOST to .*that needs no zone/],
  ["EAFNOSUPPORT", /^cannot listen on HOST and PORT 3000 \(EAFNOSUPPORT\): check both settings$/],
] as const) {
  test(`the message for ${code} names the setting to change`, () => {
    const failure = listenFailure(code, 3000);
    assert.match(failure.message, message);
    assert.equal(failure.exitCode, 2);
  });
}

test("errors of a server that listens are told, and do not end the process", async (t) => {
  const server = createServer();
  t.after(() => void server.close());
  const errors: Error[] = [];
  await listen(server, { port: 0, host: "127.0.0.1" }, (error) => errors.push(error));
  const found = [new Error("accept ENFILE"), new Error("accept ENOBUFS")];
  for (const error of found) server.emit("error", error);
  assert.deepEqual(errors, found);
});

test("every spelling of a loopback host is recognized", () => {
  const spellings = ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "127.1", "::1", "0:0:0:0:0:0:0:1"];
  const inUrls = ["[::1]", "[::ffff:7f00:1]"];
  for (const host of [...spellings, "::ffff:127.0.0.1", "::FFFF:127.0.0.1", ...inUrls])
    assert.ok(isLoopback(host), host);
});

test("no other host counts as loopback", () => {
  const others = [
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "::ffff:10.0.0.1",
    "127.example.com",
    "localhost.example.com",
    "[::2]",
    "",
  ];
  for (const host of others) assert.ok(!isLoopback(host), host);
});
