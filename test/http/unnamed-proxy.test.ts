import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { suite, test } from "node:test";
import { watchForUnnamedProxy } from "../../src/http/proxies.ts";
import { requestWith } from "../helpers/requests.ts";

const PROXIES = new BlockList();
PROXIES.addAddress("10.0.0.1");

/** The addresses that are reported after requests from these peers with this header. */
async function foundBehind(peers: readonly string[], header = "X-Forwarded-For"): Promise<string[]> {
  const found: string[] = [];
  const watch = watchForUnnamedProxy(PROXIES, (address) => found.push(address));
  for (const remoteAddress of peers) watch(await requestWith([[header, "203.0.113.9"]], { remoteAddress }));
  return found;
}

suite("a proxy missing from TRUSTED_PROXIES", () => {
  for (const peer of ["127.0.0.1", "::1", "10.0.0.2", "172.17.0.1", "192.168.1.1", "fd00::1"]) {
    test(`is found at ${peer}`, async () => assert.deepEqual(await foundBehind([peer]), [peer]));
  }

  for (const header of ["Forwarded", "X-Real-IP"]) {
    test(`is found by ${header}`, async () => assert.deepEqual(await foundBehind(["::1"], header), ["::1"]));
  }

  test("is reported once", async () => {
    assert.deepEqual(await foundBehind(["127.0.0.1", "127.0.0.1", "10.0.0.2"]), ["127.0.0.1"]);
  });

  test("is not reported if it is trusted, has a public address, or does not send its clients' addresses", async () => {
    assert.deepEqual(await foundBehind(["10.0.0.1", "203.0.113.1", "2001:db8::1"]), []);
    assert.deepEqual(await foundBehind(["127.0.0.1"], "User-Agent"), []);
  });
});
