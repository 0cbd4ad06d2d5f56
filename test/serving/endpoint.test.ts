import assert from "node:assert/strict";
import { test } from "node:test";
import { isLoopback } from "../../src/serving/endpoint.ts";

test("this machine is known by every spelling of its names and addresses", () => {
  const spellings = ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "127.1", "::1", "0:0:0:0:0:0:0:1"];
  const inUrls = ["[::1]", "[::ffff:7f00:1]"];
  for (const host of [...spellings, "::ffff:127.0.0.1", "::FFFF:127.0.0.1", ...inUrls])
    assert.ok(isLoopback(host), host);
});

test("no other host is taken for this machine", () => {
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
