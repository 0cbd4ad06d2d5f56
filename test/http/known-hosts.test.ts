import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { hostname } from "node:os";
import { suite, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { type Audience, reply } from "../../src/http/endpoint.ts";
import { createHostCheck, type HostRules } from "../../src/http/known-hosts.ts";
import { requestWith } from "../helpers/requests.ts";

const PROXIES = new BlockList();
PROXIES.addSubnet("127.0.0.0", 8, "ipv4");
PROXIES.addSubnet("10.0.0.0", 8, "ipv4");

const LOCAL: HostRules = {
  listeningHost: "127.0.0.1",
  publicUrl: undefined,
  allowedHosts: [],
  trustedProxies: undefined,
};
const PUBLIC: HostRules = { ...LOCAL, listeningHost: "0.0.0.0", publicUrl: "https://auth.example.com" };

interface Asking {
  audience?: Audience;
  /** The peer. */
  from?: string;
  /** The client, if a proxy names it. */
  address?: string;
  headers?: [string, string][];
}

async function answers(rules: HostRules, host: string | undefined, asking: Asking = {}): Promise<boolean> {
  const { audience = "anybody", from = "127.0.0.1", address = from, headers = [] } = asking;
  const request = await requestWith(headers, { remoteAddress: from });
  if (host === undefined) delete request.headers.host;
  else request.headers.host = host;
  const handler = createHostCheck(rules)(audience, () => reply(200, ""));
  try {
    await handler({ request, address, requestId: "r", params: {} });
    return true;
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === "unknown_host");
    return false;
  }
}

suite("on loopback without PUBLIC_URL", () => {
  for (const host of [
    "localhost",
    "LOCALHOST:3000",
    "localhost.",
    "app.localhost",
    "127.0.0.1:3000",
    "[::1]:3000",
    "192.168.1.5",
    hostname(),
  ])
    test(`${host} is a name of this machine`, async () => assert.equal(await answers(LOCAL, host), true));

  for (const host of [
    "evil.test",
    "evil.test:3000",
    "x",
    "localhost.evil.test",
    "evil-localhost",
    "127.0.0.1.evil.test",
    "127.0.0.1x",
    "",
  ])
    test(`${JSON.stringify(host)} is none`, async () => {
      for (const audience of ["anybody", "monitoring", "proxies"] as const)
        assert.equal(await answers(LOCAL, host, { audience }), false);
    });

  test("a request of HTTP/1.0 needs no name", async () => assert.equal(await answers(LOCAL, undefined), true));

  test("a name of the operator is known", async () => {
    assert.equal(await answers({ ...LOCAL, allowedHosts: ["auth.internal"] }, "Auth.Internal:3000"), true);
  });

  test("a trusted proxy may ask under any name, until a name is set", async () => {
    const behind = { ...LOCAL, trustedProxies: PROXIES };
    assert.equal(await answers(behind, "api.example.com"), true);
    assert.equal(await answers({ ...behind, allowedHosts: ["auth.internal"] }, "api.example.com"), false);
    assert.equal(await answers(behind, "evil.test", { audience: "monitoring" }), false);
  });
});

suite("with PUBLIC_URL", () => {
  for (const host of ["auth.example.com", "AUTH.example.com:443", "10.0.0.5:3000", "authserve:3000", "localhost"])
    test(`${host} is known`, async () => assert.equal(await answers(PUBLIC, host, { from: "192.0.2.1" }), true));

  for (const host of ["evil.test", "app.example.com", "example.com", "auth.example.com.evil.test"])
    test(`${host} is not`, async () => {
      for (const from of ["127.0.0.1", "192.0.2.1", "10.0.0.1"])
        assert.equal(await answers({ ...PUBLIC, trustedProxies: PROXIES }, host, { from }), false);
      assert.equal(await answers({ ...PUBLIC, listeningHost: "127.0.0.1" }, host), false);
    });

  test("a proxy on another machine may have another name for this one, and says what it was asked for", async () => {
    const behind = { ...PUBLIC, trustedProxies: PROXIES };
    const said = (host: string): [string, string][] => [["X-Forwarded-Host", host]];
    const ask = (from: string, host: string) =>
      answers(behind, "auth.internal.example.com", { from, headers: said(host) });
    assert.equal(await ask("10.0.0.1", "auth.example.com"), true);
    assert.equal(await ask("10.0.0.1", "evil.test"), false);
    // A page in a browser on this machine can say the same.
    assert.equal(await ask("127.0.0.1", "auth.example.com"), false);
    assert.equal(await ask("192.0.2.1", "auth.example.com"), false);
  });

  test("a trusted proxy may ask under any name whether a request may pass", async () => {
    const behind = { ...PUBLIC, trustedProxies: PROXIES };
    for (const host of ["app.example.com", "authserve.internal:3000"]) {
      assert.equal(await answers(behind, host, { audience: "proxies" }), true);
      assert.equal(await answers(behind, host, { audience: "proxies", from: "192.0.2.1" }), false);
    }
  });

  test("a monitoring system on another machine may use any name, and a page in a browser on this one may not", async () => {
    const ask = (from: string, address = from) =>
      answers(PUBLIC, "node1.example.net", { audience: "monitoring", from, address });
    assert.equal(await ask("10.0.0.40"), true);
    assert.equal(await ask("127.0.0.1"), false);
    assert.equal(await ask("::1"), false);
  });
});

test("a server beyond loopback without a name answers under any, but not for metrics of its own machine", async () => {
  const nameless = { ...LOCAL, listeningHost: "0.0.0.0" };
  assert.equal(await answers(nameless, "api.example.com", { from: "192.0.2.1" }), true);
  assert.equal(await answers(nameless, "evil.test", { audience: "monitoring" }), false);
});
