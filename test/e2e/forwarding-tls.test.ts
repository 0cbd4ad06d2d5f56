import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { show } from "../helpers/stored-events.ts";
import { pairNamed } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";

const { cert, key } = pairNamed("first");
const received: unknown[] = [];
const target = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
  received.push(request.headers["x-event-id"]);
  request.resume().on("end", () => response.writeHead(204).end());
});
await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
after(() => void target.close());
const url = `https://127.0.0.1:${(target.address() as AddressInfo).port}/events`;

test("an HTTPS target is trusted when the machine trusts its authority", async () => {
  // Where OpenSSL looks for the machine's authorities.
  await using server = await startServer({ env: { FORWARD_URL: url, SSL_CERT_FILE: cert } });
  await deliver(server, event("trusted"));
  await until(() => received.includes("trusted"), 5000);
});

test("an HTTPS target that nobody vouches for gets nothing", async () => {
  await using server = await startServer({ env: { FORWARD_URL: url, RETRY_ATTEMPTS: "1" } });
  await deliver(server, event("strange"));
  await until(async () => (await show(server, "strange")).status === "failed", 5000);
  assert.match((await show(server, "strange")).lastError ?? "", /self-signed certificate/);
  assert.ok(!received.includes("strange"));
});
