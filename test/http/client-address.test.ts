import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { suite, test } from "node:test";
import { canonicalAddress, clientAddress, NOBODY, requireAllowedClient } from "../../src/http/proxies.ts";
import { isIn } from "../../src/lib/address-range.ts";
import { requestWith } from "../helpers/requests.ts";

const PROXIES = new BlockList();
PROXIES.addSubnet("10.0.0.0", 8, "ipv4");
PROXIES.addAddress("::1", "ipv6");

suite("the canonical form of", () => {
  for (const [text, canonical] of [
    ["127.0.0.1", "127.0.0.1"],
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["::FFFF:7f00:1", "127.0.0.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["::1", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:0db8::0001", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
  ] as const) {
    test(`${text} is ${canonical}`, () => assert.equal(canonicalAddress(text), canonical));
  }

  for (const text of [
    "",
    "unknown",
    "localhost",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "1.2.3.4:80",
    "[::1]",
    ":::1",
    "1",
  ]) {
    test(`${JSON.stringify(text)} is not an address`, () => assert.equal(canonicalAddress(text), null));
  }

  test("an address is looked up in the list of its own family", () => {
    assert.equal(isIn(PROXIES, "10.1.2.3"), true);
    assert.equal(isIn(PROXIES, "::1"), true);
    assert.equal(isIn(PROXIES, "11.0.0.1"), false);
    assert.equal(isIn(PROXIES, "::2"), false);
  });
});

suite("the client's address", () => {
  async function addressOf(peer: string, forwarded: string[], proxies: BlockList | undefined = PROXIES) {
    const headers = forwarded.map((value) => ["X-Forwarded-For", value] as const);
    return clientAddress(await requestWith(headers, { remoteAddress: peer }), proxies);
  }

  test("is the peer's when no proxy is trusted, whatever the headers say", async () => {
    const request = await requestWith(
      [
        ["X-Forwarded-For", "203.0.113.9"],
        ["Forwarded", "for=203.0.113.9"],
        ["X-Real-IP", "203.0.113.9"],
      ],
      { remoteAddress: "10.0.0.1" },
    );
    assert.equal(clientAddress(request, undefined), "10.0.0.1");
  });

  test("is the peer's when the peer is not a trusted proxy", async () => {
    assert.equal(await addressOf("192.0.2.1", ["203.0.113.9"]), "192.0.2.1");
  });

  test("is the peer's when a trusted proxy names no client", async () => {
    assert.equal(await addressOf("10.0.0.1", []), "10.0.0.1");
  });

  for (const [what, forwarded, expected] of [
    ["the one entry", ["203.0.113.9"], "203.0.113.9"],
    ["the right-most one, not what the client wrote left of it", ["1.1.1.1, 203.0.113.9"], "203.0.113.9"],
    ["the right-most untrusted one", ["1.1.1.1, 203.0.113.9, 10.0.0.7,10.0.0.8"], "203.0.113.9"],
    ["the right-most one over several headers", ["1.1.1.1", "203.0.113.9"], "203.0.113.9"],
    ["in its one spelling", ["::ffff:203.0.113.9"], "203.0.113.9"],
    ["the left-most when all are proxies", ["10.0.0.9, 10.0.0.8"], "10.0.0.9"],
    ["nobody when a proxy wrote what is no address", ["203.0.113.9, unknown, 10.0.0.8"], NOBODY],
    ["nobody when the last entry is no address", ["203.0.113.9, "], NOBODY],
    ["nobody when the one entry is no address", ["unknown"], NOBODY],
    ["nobody when there is another space than that of HTTP", ["203.0.113.9\u00a0"], NOBODY],
    ["nobody when the header is empty", [""], NOBODY],
    ["of IPv6 too", ["2001:DB8::0001"], "2001:db8::1"],
    ["without the port that some proxies write", ["203.0.113.9:4711"], "203.0.113.9"],
    ["of IPv6 in brackets", ["[2001:db8::9]"], "2001:db8::9"],
    ["of IPv6 in brackets with a port", ["[2001:db8::9]:443, 10.0.0.7:80"], "2001:db8::9"],
    ["nobody when what follows the address is no port", ["203.0.113.9:x"], NOBODY],
  ] as const) {
    test(`behind a trusted proxy is ${what}`, async () => {
      assert.equal(await addressOf("10.0.0.1", [...forwarded]), expected);
    });
  }

  test("that is nobody's is in no list of addresses, not even in that of all", async () => {
    const everybody = new BlockList();
    everybody.addSubnet("0.0.0.0", 0, "ipv4");
    everybody.addSubnet("::", 0, "ipv6");
    for (const forwarded of ["unknown", "", "127.0.0.1, _hidden"]) {
      const request = await requestWith([["X-Forwarded-For", forwarded]], { remoteAddress: "10.0.0.1" });
      const access = { allowedAddresses: everybody, trustedProxies: PROXIES };
      assert.throws(() => requireAllowedClient(request, clientAddress(request, PROXIES), access), {
        code: "not_found",
      });
    }
  });

  test("is found behind a proxy with an IPv4-mapped address", async () => {
    assert.equal(await addressOf("::ffff:10.0.0.1", ["203.0.113.9"]), "203.0.113.9");
  });
});
