import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { show } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { pairNamed } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";

const pair = pairNamed("first");
const target = await startTarget(pair);
after(() => target[Symbol.asyncDispose]());

test("an HTTPS target is trusted if the machine trusts its certificate authority", async () => {
  // OpenSSL reads the machine's certificate authorities from here.
  await using server = await startServer({ env: { FORWARD_URL: target.url, SSL_CERT_FILE: pair.cert } });
  await deliver(server, event("trusted"));
  await until(() => target.of("trusted").length > 0);
});

test("an HTTPS target with an untrusted certificate gets no events", async () => {
  await using server = await startServer({ env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "1" } });
  await deliver(server, event("strange"));
  await until(async () => (await show(server, "strange")).status === "failed");
  assert.match((await show(server, "strange")).lastError ?? "", /self-signed certificate/);
  assert.equal(target.of("strange").length, 0);
});
