import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { needsPostgres } from "../helpers/back-end.ts";
import { post } from "../helpers/client.ts";
import { startPostgres } from "../helpers/postgres.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const RETIRE_MS = 3000;
const FILE = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:NEW, env:OLD], retire: ${RETIRE_MS}ms }
`;
const SECRETS = { NEW: "the new secret of the shop", OLD: "the old secret of the shop" };

let deliveries = 0;

/** Delivers an event that is signed with the old secret. */
async function deliver(server: Server): Promise<number> {
  const body = JSON.stringify({ id: `evt_${++deliveries}`, type: "order.paid" });
  const headers = { "X-Sig": signature(body, SECRETS.OLD).slice("sha256=".length) };
  return (await post(server, "/webhook/shop", body, headers)).status;
}

test("an old secret that matches on one of two servers is retired on neither", needsPostgres(), async (t) => {
  const { url } = await startPostgres(t);
  const servers = await Promise.all(
    [1, 2].map(() => {
      const dir = workingDir();
      writeFileSync(join(dir, "authserve.yaml"), FILE);
      return startServer({ dir, env: { DATABASE_URL: url(), ...SECRETS } });
    }),
  );
  for (const server of servers) t.after(() => server[Symbol.asyncDispose]());
  const [busy, idle] = servers as [Server, Server];
  assert.equal(await deliver(idle), 200);
  const endsAt = performance.now() + RETIRE_MS + 1000;
  while (performance.now() < endsAt) {
    assert.equal(await deliver(busy), 200);
    await delay(RETIRE_MS / 6);
  }
  assert.equal(await deliver(idle), 200);

  const isRetired = async () => /not accepted env:OLD/.test((await idle.run(["sources", "list"])).stderr);
  await until(isRetired, 20_000);
  assert.deepEqual([await deliver(busy), await deliver(idle)], [403, 403]);
});
