import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { DATABASE_FILE } from "../../src/sqlite/database.ts";
import { ask } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** `HELD_SECONDS=3600` runs for an hour. */
const SECONDS = Number(process.env.HELD_SECONDS ?? 2);
const PER_SECOND = 100;
const COUNT = SECONDS * PER_SECOND;

const FILE = `sources:
  shop:
    verify: { header: x-sig }
    secrets: [file:secret]
    keepRejected: { count: 1000000, bytes: 4g, for: 7d }
`;
const RIGHT = "the right secret of the shop";

// One connection, so that the order of arrival is known.
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function deliver(server: Server, n: number): Promise<number> {
  const body = JSON.stringify({ id: `evt_${n}`, type: "order.paid", data: { total: n, note: "x".repeat(400) } });
  const headers = { "content-type": "application/json", "x-sig": signature(body, RIGHT).slice("sha256=".length) };
  return new Promise((resolve, reject) => {
    request(`${server.url}/webhook/shop`, { method: "POST", agent, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end(body);
  });
}

function storedIds(dir: string): string[] {
  const database = new Sqlite(join(dir, "data", DATABASE_FILE), { readonly: true });
  const ids = database.prepare("SELECT event_id FROM events ORDER BY id").pluck().all() as string[];
  database.close();
  return ids;
}

const longest = { timeout: (4 * SECONDS + 120) * 1000 };

test("what a wrong secret refused for a time is admitted in order once it is corrected", longest, async (t) => {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), FILE);
  writeFileSync(join(dir, "secret"), "a wrong secret of the shop");
  const server = await startServer({ dir });
  t.after(() => server[Symbol.asyncDispose]());
  t.after(() => agent.destroy());

  const startedAt = performance.now();
  for (let n = 0; n < COUNT; n++) {
    const early = startedAt + (n * 1000) / PER_SECOND - performance.now();
    if (early > 0) await delay(early);
    assert.equal(await deliver(server, n), 403);
  }
  const seconds = (performance.now() - startedAt) / 1000;

  writeFileSync(join(dir, "secret"), RIGHT);
  server.signal("SIGHUP");
  await server.logged("config_reloaded");
  assert.equal(await deliver(server, COUNT), 200);
  const reverifiedAt = performance.now();
  const options = { dir, env: server.env, timeoutMs: longest.timeout };
  const { stdout } = await authserve(["events", "reverify", "--source", "shop", "--json"], options);
  const reverifySeconds = (performance.now() - reverifiedAt) / 1000;
  assert.deepEqual(JSON.parse(stdout), { matched: COUNT, admitted: COUNT, duplicates: 0, refused: 0 });

  // In the order in which they were stored: first the delivery after the secret was corrected.
  assert.deepEqual(storedIds(dir), [`evt_${COUNT}`, ...Array.from({ length: COUNT }, (_, n) => `evt_${n}`)]);
  const processed = new RegExp(`^authserve_attempts_total\\{outcome="processed"\\} ${COUNT + 1}$`, "m");
  await until(async () => processed.test((await ask(server, "/metrics")).text), longest.timeout);
  assert.equal((await server.run(["events", "held", "--json"])).stdout.trim(), "[]");
  t.diagnostic(`${COUNT} refused in ${seconds.toFixed(0)} s, admitted in ${reverifySeconds.toFixed(1)} s`);
});
