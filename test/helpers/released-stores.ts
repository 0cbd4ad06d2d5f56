import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, deliver, event, logIn, tryLogin } from "./client.ts";
import { type Server, type ServerOptions, startServer } from "./server.ts";
import { PLAUSIBLE } from "./sign.ts";
import { list, settled, show } from "./stored-events.ts";
import { until } from "./until.ts";

/** The stores of released versions: `VERSION.json`, `VERSION.db.gz` and `VERSION.sql`. */
export const STORES = join(import.meta.dirname, "../fixtures/stores");

/** Versions with a store. */
export const RELEASED_VERSIONS = readdirSync(STORES)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length));

/** Retention must not remove what is years old. Held deliveries are kept for a year at most. Port 1 has no server. */
const CONFIG = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], keepRejected: {} }
routes:
  - { name: logged, log: {} }
  - { name: broken, types: [order.lost], to: "http://127.0.0.1:1/", retry: { attempts: 1 } }
  - { name: paused, types: [order.late], log: {} }
retention: { processed: 3650d, failed: 3650d, ids: 3650d }
`;

/** Starts a server with the routes of the stores. */
export function startWithRoutes(dir: string, env: ServerOptions["env"] = {}): Promise<Server> {
  writeFileSync(join(dir, "authserve.yaml"), CONFIG);
  return startServer({ dir, env: { SHOP_SECRET: "a secret of the shop", ...env } });
}

/** Fills the store of a server: an event of each status, another body, a repeat, a held delivery and logins. */
export async function fillStore(server: Server): Promise<void> {
  assert.equal((await server.run(["routes", "pause", "paused"])).code, 0);
  await deliver(server, event("evt_done", { amount: 1 }));
  await deliver(server, event("evt_done", { amount: 2 }));
  await deliver(server, event("evt_lost", { type: "order.lost" }));
  await deliver(server, event("evt_late", { type: "order.late" }));
  await deliver(server, event("evt_dropped", { type: "order.late" }));
  for (const id of ["unsigned-1", "unsigned-2"]) await deliver(server, { n: 1 }, { "X-Request-ID": id });
  const headers = { "Content-Type": "application/json", "X-Sig": PLAUSIBLE };
  const refused = await ask(server, "/webhook/shop", { method: "POST", body: "{}", headers });
  assert.equal(refused.status, 403);
  for (const id of ["evt_done", "evt_lost", "evt_late", "evt_dropped", "unsigned-1"]) {
    await until(async () => (await show(server, id)).jobs.some((job) => job.status === "processed"));
  }
  await until(async () => (await show(server, "evt_lost")).status === "failed");
  const discard = ["events", "discard", "evt_dropped", "--reason", "a fixture"];
  assert.equal((await server.run(discard)).code, 0);
  await logIn(server);
  assert.equal((await tryLogin(server, { password: "a wrong password" })).status, 401);
}

/** What an upgrade must keep of a store. */
export async function contentOf(server: Server): Promise<object> {
  const { stdout } = await server.run(["sources", "list", "--json"]);
  const sources = JSON.parse(stdout) as { name: string; received: number }[];
  const events = await list(server);
  const shown = await Promise.all(events.map(({ eventId }) => show(server, eventId)));
  return {
    events: shown.map(({ eventId, type, status, attempts, payload, jobs, conflicts, repeats }) => ({
      eventId,
      type,
      status,
      attempts,
      payload,
      jobs: jobs.map((job) => [job.route, job.status, job.history.length]),
      conflicts: conflicts.map((conflict) => conflict.payload),
      repeats: repeats.map((repeat) => repeat.eventId),
    })),
    received: sources.map(({ name, received }) => [name, received]),
  };
}

/** The content that the store of a version was made with. */
function expectedContent(version: string): object {
  return JSON.parse(readFileSync(join(STORES, `${version}.json`), "utf8"));
}

/** A server on an upgraded store keeps its content, knows old events, and processes old and new ones. */
export async function assertUpgraded(server: Server, version: string): Promise<void> {
  assert.deepEqual(await contentOf(server), expectedContent(version));
  const known = await deliver(server, event("evt_done", { amount: 1 }));
  assert.deepEqual([known.status, known.json.duplicate], [200, true]);
  assert.equal((await server.run(["routes", "resume", "paused"])).code, 0);
  await until(async () => (await show(server, "evt_late")).status === "processed");
  assert.equal((await deliver(server, event("evt_new"))).json.duplicate, false);
  await settled(server, "evt_new");
  assert.equal((await server.run(["events", "replay", "evt_lost"])).code, 0);
  await until(async () => (await show(server, "evt_lost")).jobs.some(({ attempts }) => attempts === 2));
  await logIn(server);
}
