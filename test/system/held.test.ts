import assert from "node:assert/strict";
import { createHmac, hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask, logIn } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const FILE = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], keepRejected: { count: 500 } }
  other: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET] }
`;
const RIGHT = "the right secret of the shop";

async function deliver(server: Server, source: string, n: number, sig?: string): Promise<number> {
  const body = JSON.stringify({ id: `evt_${n}`, type: "order.paid" });
  const headers = {
    "Content-Type": "application/json",
    "X-Sig": sig ?? signature(body, RIGHT).slice("sha256=".length),
  };
  return (await ask(server, `/webhook/${source}`, { method: "POST", body, headers })).status;
}

test("deliveries that a wrong secret refused are admitted in order of arrival once it is corrected", async (t) => {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), FILE);
  const wrong = await startServer({ dir, env: { SHOP_SECRET: "a wrong secret of the shop" } });
  t.after(() => wrong[Symbol.asyncDispose]());
  for (let n = 0; n < 20; n++) assert.equal(await deliver(wrong, "shop", n), 403);
  assert.equal(await deliver(wrong, "shop", 99, "00".repeat(32)), 403);
  assert.equal(await deliver(wrong, "shop", 98, "no signature"), 403);
  assert.equal(await deliver(wrong, "other", 97), 403);

  const headers = { Authorization: `Bearer ${await logIn(wrong)}` };
  const { json } = await ask(wrong, "/admin/api/held?limit=5", { headers });
  const items = json.items as { source: string; reason: string }[];
  assert.deepEqual([items.length, items[0]?.source, items[0]?.reason], [5, "shop", "signature_mismatch"]);
  assert.equal(typeof json.cursor, "string");
  const listed = await wrong.run(["events", "held", "--json"]);
  // Neither a malformed signature nor another source is held.
  assert.equal((JSON.parse(listed.stdout) as object[]).length, 21);
  assert.doesNotMatch(wrong.stdout(), /evt_0/);

  const mended = { SHOP_SECRET: RIGHT };
  const counted = await wrong.run(["events", "reverify", "--source", "shop", "--dry-run", "--json"], mended);
  assert.deepEqual(JSON.parse(counted.stdout), { matched: 20, refused: 1 });
  const done = await wrong.run(["events", "reverify", "--source", "shop", "--json"], mended);
  assert.deepEqual(JSON.parse(done.stdout), { matched: 20, admitted: 20, duplicates: 0, refused: 1 });
  await until(() => wrong.log("event_processed").length === 20);
  const { stdout } = await wrong.run(["events", "list", "--json"]);
  const ids = (JSON.parse(stdout) as { eventId: string }[]).map(({ eventId }) => eventId);
  assert.deepEqual(
    ids,
    Array.from({ length: 20 }, (_, n) => `evt_${19 - n}`),
  );
  const again = await wrong.run(["events", "reverify", "--source", "shop"], mended);
  assert.match(again.stderr, /^Admitted 0 events\. 0 were stored before, and 1 stay held\.$/m);
});

test("a wrong token is held too, and what another secret cannot make right is not", async (t) => {
  const dir = workingDir();
  const bounds = "secrets: [env:SHOP_SECRET], keepRejected: {}";
  writeFileSync(
    join(dir, "authserve.yaml"),
    `sources:
  token: { verify: { type: token, header: x-token }, ${bounds} }
  jwt: { verify: { type: jwt, bodyClaim: sha }, ${bounds} }
  mailgun: { preset: mailgun, ${bounds} }
`,
  );
  const server = await startServer({ dir, env: { SHOP_SECRET: "a wrong secret of the shop" } });
  t.after(() => server[Symbol.asyncDispose]());
  const statusOf = async (source: string, body: string, headers: Record<string, string> = {}) => {
    const sent = { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } };
    return (await ask(server, `/webhook/${source}`, sent)).status;
  };
  const body = JSON.stringify({ id: "evt_1", type: "order.paid" });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256" })}.${part({ sha: hash("sha256", body) })}`;
  const token = `${signed}.${createHmac("sha256", RIGHT).update(signed).digest("base64url")}`;
  assert.equal(await statusOf("token", body, { "X-Token": RIGHT }), 403);
  assert.equal(await statusOf("jwt", body, { Authorization: `Bearer ${token}` }), 403);
  assert.equal(await statusOf("token", body), 403);
  assert.equal(await statusOf("mailgun", body), 403);
  const listed = JSON.parse((await server.run(["events", "held", "--json"])).stdout) as { source: string }[];
  assert.deepEqual(
    listed.map(({ source }) => source),
    ["token", "jwt"],
  );
  for (const source of ["token", "jwt"]) {
    const args = ["events", "reverify", "--source", source, "--json"];
    const { stdout } = await server.run(args, { SHOP_SECRET: RIGHT });
    assert.deepEqual(JSON.parse(stdout), { matched: 1, admitted: 1, duplicates: 0, refused: 0 });
  }
});
