import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { needsPostgres } from "../helpers/back-end.ts";
import { post } from "../helpers/client.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { PATIENT } from "../helpers/several-servers.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const FILE = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:NEW, env:OLD], retire: 1h }
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
  const { postgres, url } = await tempPostgres(t);
  const start = async () => {
    const dir = workingDir();
    writeFileSync(join(dir, "authserve.yaml"), FILE);
    const server = await startServer({ dir, env: { ...PATIENT, DATABASE_URL: url, ...SECRETS } });
    t.after(() => server[Symbol.asyncDispose]());
    return server;
  };
  const isUsed = async () =>
    (await postgres.rows("SELECT FROM authserve.source_secrets WHERE last_used_at > $1", [Date.now() - 1_800_000]))
      .length === 1;
  const letTimePass = () => postgres.run("UPDATE authserve.source_secrets SET last_used_at = last_used_at - 7200000");

  const busy = await start();
  assert.equal(await deliver(busy), 200);
  await until(isUsed);
  await letTimePass();
  // It reads that nobody has used the secret for two hours.
  const idle = await start();
  assert.equal(await deliver(busy), 200);
  await until(isUsed);
  assert.equal(await deliver(idle), 200);

  for (const server of [busy, idle]) await server.stop();
  await letTimePass();
  const last = await start();
  assert.equal(await deliver(last), 403);
  assert.match((await last.run(["sources", "list"])).stderr, /not accepted env:OLD/);
});
