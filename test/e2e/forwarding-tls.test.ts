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

test("an HTTPS target is trusted when the machine trusts its authority", async () => {
  // Where OpenSSL looks for the machine's authorities.
  await using server = await startServer({ env: { FORWARD_URL: target.url, SSL_CERT_FILE: pair.cert } });
  await deliver(server, event("trusted"));
  await until(() => target.of("trusted").length > 0, 5000);
});

test("an HTTPS target that nobody vouches for gets nothing", async () => {
  await using server = await startServer({ env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "1" } });
  await deliver(server, event("strange"));
  await until(async () => (await show(server, "strange")).status === "failed", 5000);
  assert.match((await show(server, "strange")).lastError ?? "", /self-signed certificate/);
  assert.equal(target.of("strange").length, 0);
});
