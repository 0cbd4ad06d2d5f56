import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ask } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const FILE = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:NEW, env:OLD], retire: 2s, keepRejected: {} }
`;
const [FIRST, SECOND, THIRD] = ["first", "second", "third"].map((which) => `the ${which} secret of the shop`);
const ROTATED = { NEW: SECOND, OLD: FIRST };

const dir = workingDir();
writeFileSync(join(dir, "authserve.yaml"), FILE);

async function start(t: TestContext, env: Record<string, string | undefined>): Promise<Server> {
  const server = await startServer({ dir, env });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

let deliveries = 0;

/** Delivers an event that is signed with a secret. Returns the status, and the reason that the log has. */
async function deliver(server: Server, secret: string | undefined): Promise<[status: number, reason: unknown]> {
  const body = JSON.stringify({ id: `evt_${++deliveries}`, type: "order.paid" });
  const headers = { "Content-Type": "application/json", "X-Sig": signature(body, secret).slice("sha256=".length) };
  const requestId = `delivery-${deliveries}`;
  const { status } = await ask(server, "/webhook/shop", {
    method: "POST",
    body,
    headers: { ...headers, "X-Request-ID": requestId },
  });
  if (status === 200) return [200, undefined];
  const line = await until(() => server.log("request_completed").find((found) => found.requestId === requestId));
  return [status, line.reason];
}

const ACCEPTED = [200, undefined];
const RETIRED = [403, "secret_retired"];

test("an old secret that has not matched for long enough is refused, until its value changes", async (t) => {
  const server = await start(t, ROTATED);
  assert.deepEqual(await deliver(server, FIRST), ACCEPTED);
  const lastUsedBefore = Date.now();
  assert.deepEqual(await deliver(server, SECOND), ACCEPTED);
  const advice = /^warning: shop has not accepted env:OLD since .+: it is retired: remove env:OLD from shop$/m;
  await until(() => Date.now() > lastUsedBefore + 2000);
  await until(async () => advice.test((await server.run(["sources", "list"])).stderr));
  assert.deepEqual(await deliver(server, FIRST), RETIRED);
  assert.deepEqual(await deliver(server, SECOND), ACCEPTED);
  const announced = await server.logged("secret_retired");
  assert.deepEqual([announced.source, announced.secret], ["shop", "env:OLD"]);
  const { text } = await ask(server, "/metrics");
  assert.match(text, /^authserve_deliveries_not_genuine_total\{reason="secret_retired"\} 1$/m);
  const held = JSON.parse((await server.run(["events", "held", "--json"])).stdout) as { reason: string }[];
  assert.deepEqual(
    held.map(({ reason }) => reason),
    ["secret_retired"],
  );
  const admitted = await server.run(["events", "reverify", "--source", "shop", "--dry-run", "--json"]);
  assert.deepEqual(JSON.parse(admitted.stdout), { matched: 1, refused: 0 });
  await server.stop();

  const restarted = await start(t, ROTATED);
  await restarted.logged("secret_retired");
  assert.deepEqual(await deliver(restarted, FIRST), RETIRED);
  await restarted.stop();

  const moved = await start(t, { NEW: THIRD, OLD: SECOND });
  assert.deepEqual(await deliver(moved, SECOND), ACCEPTED);
  assert.deepEqual(await deliver(moved, THIRD), ACCEPTED);
  assert.deepEqual(await deliver(moved, FIRST), [403, "signature_mismatch"]);
  for (const one of [server, restarted, moved]) assert.doesNotMatch(one.stdout(), /secret of the shop/);
});
