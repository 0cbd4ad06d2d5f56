import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { suite, test } from "node:test";
import { sentOrigin } from "../../src/http/proxies.ts";
import { requestWith } from "../helpers/requests.ts";

const PROXIES = new BlockList();
PROXIES.addSubnet("10.0.0.0", 8, "ipv4");

const FORWARDED = { "x-forwarded-proto": "https", "x-forwarded-host": "hooks.example.com" };

suite("the origin that a client wrote", () => {
  for (const [what, peer, headers, origin] of [
    ["is Host by http without TLS", "192.0.2.1", {}, "http://localhost"],
    ["is that of a trusted proxy's headers", "10.0.0.1", FORWARDED, "https://hooks.example.com"],
    ["is not that of anybody else's headers", "192.0.2.1", FORWARDED, "http://localhost"],
    ["is Host behind a proxy that keeps it", "10.0.0.1", { "x-forwarded-proto": "https" }, "https://localhost"],
    ["is not what no host can be", "10.0.0.1", { "x-forwarded-host": "hooks.example.com/path" }, "http://localhost"],
    ["is what the first proxy wrote", "10.0.0.1", { "x-forwarded-proto": "https, http" }, "https://localhost"],
  ] as const) {
    test(what, async () => {
      const request = await requestWith(Object.entries(headers), { remoteAddress: peer });
      assert.equal(sentOrigin(request, PROXIES), origin);
    });
  }

  test("is the public one unless a trusted proxy names a host", async () => {
    const publicOrigin = "https://public.example";
    for (const [peer, origin] of [
      ["192.0.2.1", publicOrigin],
      ["10.0.0.1", "https://hooks.example.com"],
    ] as const) {
      const request = await requestWith(Object.entries(FORWARDED), { remoteAddress: peer });
      assert.equal(sentOrigin(request, PROXIES, publicOrigin), origin);
    }
    const request = await requestWith([["x-forwarded-proto", "https"]], { remoteAddress: "10.0.0.1" });
    assert.equal(sentOrigin(request, PROXIES, publicOrigin), publicOrigin);
  });
});
