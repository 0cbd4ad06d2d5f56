import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf } from "../../src/lib/network.ts";

for (const [address, expected] of [
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:db8:1:2::", "2001:db8:1:2"],
  ["2001:db8:1::5:6:7", "2001:db8:1:0"],
  ["::1", "0:0:0:0"],
  ["::", "0:0:0:0"],
  ["1::2:3:4:5:6:7", "1:0:2:3"],
] as const) {
  test(`${address} is of the network ${expected}`, () => assert.equal(networkOf(address), expected));
}

test("an IPv6 customer may have a /56 or a /48", () => {
  assert.equal(networkOf("2001:db8:1:2ab::1", 56), "2001:db8:1:200");
  assert.equal(networkOf("2001:db8:1:ff::1", 56), "2001:db8:1:0");
  assert.equal(networkOf("2001:db8:1:2ab::1", 48), "2001:db8:1");
  assert.equal(networkOf("::1", 48), "0:0:0");
  assert.equal(networkOf("192.0.2.1", 48), "192.0.2.1");
});
