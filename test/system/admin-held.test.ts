import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { ask, assertProblem, deliver, logIn } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const NEW_SECRET = "the secret that the sender signs with";

/** A server that holds two deliveries of a source, one of which is signed with a secret that it does not know yet. */
async function start(t: { after(run: () => unknown): void }) {
  const dir = workingDir();
  const file = (secrets: string) =>
    writeFileSync(
      join(dir, "authserve.yaml"),
      `sources:\n  shop:\n    verify: { header: x-signature, prefix: "sha256=" }\n    secrets: [${secrets}]\n    keepRejected: {}\n`,
    );
  file("env:OLD_SECRET");
  const env = { OLD_SECRET: "the secret before, also a long one", NEW_SECRET };
  const server = await startServer({ dir, env });
  t.after(() => server[Symbol.asyncDispose]());
  const headers = { Authorization: `Bearer ${await logIn(server)}`, "Content-Type": "application/json" };
  const get = async (path: string) => ask(server, `/admin/api/${path}`, { headers });
  const post = (path: string, body: unknown) =>
    ask(server, `/admin/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  for (const [body, secret] of [
    [`{"id":"evt_1","type":"order.paid"}`, NEW_SECRET],
    [`{"id":"evt_2","type":"order.paid"}`, "a secret of nobody that is long"],
  ] as const)
    await ask(server, "/webhook/shop", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Signature": signature(body, secret),
        Authorization: "Bearer of the sender",
      },
      body,
    });
  const list = async () => (await get("held")).json.items as { id: number }[];
  await until(async () => (await list()).length === 2);
  const rotate = async () => {
    file("env:NEW_SECRET, env:OLD_SECRET");
    await server.logged("config_reloaded");
  };
  return { server, get, post, list, rotate };
}

suite("the admin API, for refused deliveries", () => {
  test("lists the newest with their reason and address, also those that are not held", async (t) => {
    const { server, get } = await start(t);
    await ask(server, "/webhook/shop", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    const { items } = (await get("refusals")).json as { items: { source: string; reason: string; address: string }[] };
    assert.deepEqual(
      items.filter(({ source }) => source === "shop").map(({ reason, address }) => [reason, address]),
      [
        ["no_signature", "127.0.0.1"],
        ["signature_mismatch", "127.0.0.1"],
        ["signature_mismatch", "127.0.0.1"],
      ],
    );
  });

  test("shows a held delivery and why it was refused, and none of its secrets", async (t) => {
    const { get, list } = await start(t);
    const [first] = await list();
    const { json, text } = await get(`held/one?id=${first?.id}`);
    assert.equal(json.payload, `{"id":"evt_1","type":"order.paid"}`);
    const { answer, checks } = json.explanation as { answer: object; checks: { name: string; ok: boolean }[] };
    assert.deepEqual(answer, { status: 403, code: "signature_mismatch", reason: "signature_mismatch" });
    assert.deepEqual(
      checks.filter(({ ok }) => !ok).map(({ name }) => name),
      ["signature"],
    );
    assert.doesNotMatch(text, /of the sender/);
    assertProblem(await get("held/one?id=999"), 404, "not_found");
  });

  test("admits what the present secrets verify, and removes the rest", async (t) => {
    const { server, post, list, rotate } = await start(t);
    const ids = (await list()).map(({ id }) => id);
    await rotate();
    const refused = [{ id: ids[1], reason: "signature_mismatch" }];
    const counted = (await post("held/reverify", { ids, dryRun: true })).json;
    assert.deepEqual(counted, { matched: 1, admitted: 0, duplicates: 0, refused });
    const { json } = await post("held/reverify", { ids });
    assert.deepEqual(json, { matched: 1, admitted: 1, duplicates: 0, refused });
    const { stdout } = await server.run(["events", "list", "--json"]);
    assert.deepEqual(
      (JSON.parse(stdout) as { eventId: string }[]).map(({ eventId }) => eventId),
      ["evt_1"],
    );
    assert.deepEqual((await post("held/remove", { ids })).json, { removed: 1 });
    assert.deepEqual(await list(), []);
  });

  test("does for a command on another machine what it does here", async (t) => {
    const [here, there] = [await start(t), await start(t)];
    const dir = workingDir();
    const { stdout } = await there.server.run([
      ...["tokens", "create", "laptop", "--scope"],
      ...["events:read", "events:write"],
    ]);
    writeFileSync(join(dir, "token"), stdout);
    const remotely = (args: readonly string[]) =>
      authserve([...args, "--server", there.server.url, "--token-file", "token"], { dir, env: {} });
    for (const args of [
      ["events", "held", "--utc"],
      ["events", "held", "--json", "--limit", "1"],
      ["events", "held", "--source", "shops"],
      ["events", "held", "show", "1", "--utc"],
      ["events", "held", "show", "1", "--json"],
      ["events", "held", "show", "9"],
    ]) {
      const [a, b] = [await there.server.run(args), await remotely(args)];
      assert.deepEqual([b.code, b.stdout, b.stderr], [a.code, a.stdout, a.stderr], args.join(" "));
    }
    assert.match(
      (await remotely(["events", "held", "show", "1", "--raw"])).stderr,
      /--raw cannot be used with --server/,
    );
    for (const { rotate } of [here, there]) await rotate();
    const reverify = ["events", "reverify", "--source", "shop"];
    for (const args of [[...reverify, "--dry-run"], [...reverify, "--dry-run", "--json"], reverify, reverify]) {
      const [a, b] = [await here.server.run(args), await remotely(args)];
      assert.deepEqual([b.code, b.stdout, b.stderr], [a.code, a.stdout, a.stderr], args.join(" "));
    }
    assert.equal((await there.list()).length, 1);
  });

  test("explains a pasted request, and stores nothing", async (t) => {
    const { server, post } = await start(t);
    const request = (body: string) =>
      `POST /webhook HTTP/1.1\nContent-Type: application/json\nX-Signature: ${signature(body)}\n\n${body}`;
    const right = await post("sources/explain", { source: "default", request: request(`{"id":"evt_9","type":"a"}`) });
    assert.deepEqual([right.json.genuine, right.json.eventId], [true, "evt_9"]);
    const wrong = await post("sources/explain", { source: "default", request: `${request("{}")} ` });
    assert.equal(wrong.json.genuine, false);
    assertProblem(await post("sources/explain", { source: "default", request: "hello" }), 400, "validation_failed");
    assertProblem(await post("sources/explain", { source: "none", request: request("{}") }), 400, "validation_failed");
    await deliver(server, { id: "evt_9", type: "a" });
    assert.equal(JSON.parse((await server.run(["events", "list", "--json"])).stdout).length, 1);
  });
});
