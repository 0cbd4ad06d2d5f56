import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { ask, deliver, event } from "../../helpers/client.ts";
import { authserve } from "../../helpers/command.ts";
import { clientSettings } from "../../helpers/oidc-app.ts";
import { freePort } from "../../helpers/ports.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

const MISSING = /is encrypted with the key [0-9a-f]{16}, which ENCRYPTION_KEYS does not have/;

interface Item {
  id: string;
  algorithm: string;
  state: string;
  signsFrom: string;
  signsUntil: string | null;
  keptUntil: string | null;
}

/** A folder for servers with an app, and files of keys. */
async function folder() {
  const { dir, env } = clientSettings(await freePort());
  const keyFile = (name: string) => {
    const file = join(dir, name);
    writeFileSync(file, randomBytes(32).toString("base64"), { mode: 0o600 });
    return file;
  };
  const [old, fresh] = [keyFile("old.key"), keyFile("new.key")];
  const start = async (t: Cleanup, keys?: string) => {
    const server = await startServer({ dir, env: { ...env, ...(keys !== undefined && { ENCRYPTION_KEYS: keys }) } });
    t.after(() => server[Symbol.asyncDispose]());
    return server;
  };
  return { dir, old, fresh, start };
}

async function published(server: Server) {
  const { status, json } = await ask(server, "/oauth/jwks");
  const { keys = [], code } = json as { keys?: { kid: string }[]; code?: string };
  return { status, code, ids: keys.map(({ kid }) => kid) };
}

const listed = async (server: Server): Promise<Item[]> =>
  JSON.parse((await server.run(["keys", "list", "--json"])).stdout);

function storedKeys(dir: string): string[] {
  const database = openDatabase(join(dir, "data"));
  try {
    return database.prepare<[], string>("SELECT private_key FROM signing_keys ORDER BY created_at").pluck().all();
  } finally {
    database.close();
  }
}

suite("keys", () => {
  test("rotate makes the next key once, and says from when it signs and until when the old one stays", async (t) => {
    const { start } = await folder();
    const server = await start(t);
    assert.match((await server.run(["keys", "rotate"])).stderr, /There are no signing keys/);
    const { ids } = await published(server);
    assert.equal(ids.length, 1);
    const made = await server.run(["keys", "rotate"]);
    assert.equal(made.code, 0, made.stderr);
    const [first, next] = await listed(server);
    assert.ok(first && next);
    assert.deepEqual([first.id, first.state, next.state], [ids[0], "signs", "waits"]);
    assert.equal(first.signsUntil, next.signsFrom);
    assert.ok(made.stderr.includes(`The new RS256 key ${next.id} signs from ${next.signsFrom} on.`), made.stderr);
    assert.ok(made.stderr.includes(`The key ${first.id} is published until ${first.keptUntil}.`), made.stderr);
    const again = await server.run(["keys", "rotate"]);
    assert.equal(again.code, 0);
    assert.match(again.stderr, new RegExp(`The RS256 key ${next.id} waits already, and signs from`));
    assert.equal((await listed(server)).length, 2);
    assert.match((await server.run(["keys", "list"])).stdout, new RegExp(`${next.id} +RS256 +waits +in 1 h +- +-`));
    const audit = JSON.parse((await server.run(["audit", "list", "--json"])).stdout);
    const changes = audit.filter(({ action }: { action: string }) => action === "key.rotate");
    assert.deepEqual(
      changes.map(({ detail }: { detail: { made?: string[] } }) => detail.made),
      [undefined, [next.id], undefined],
    );
  });

  test("rotate and list do the same on a server elsewhere, with a token that may manage", async (t) => {
    const { dir, start } = await folder();
    const server = await start(t);
    await published(server);
    writeFileSync(join(dir, "token"), (await server.run(["tokens", "create", "ci", "--scope", "manage"])).stdout);
    const there = (...args: string[]) =>
      authserve([...args, "--server", server.url, "--token-file", join(dir, "token")], { dir, env: {} });
    const rotated = await there("keys", "rotate", "--json");
    assert.equal(rotated.code, 0, rotated.stderr);
    const { made, items } = JSON.parse(rotated.stdout);
    assert.equal(made[0], items[1].id);
    assert.equal((await there("keys", "list", "--utc")).stdout, (await server.run(["keys", "list", "--utc"])).stdout);
  });
});

suite("keys that are encrypted", () => {
  test("are so with ENCRYPTION_KEYS, and those from before become so by encrypt", async (t) => {
    const { dir, old, fresh, start } = await folder();
    const plain = await start(t);
    const { ids } = await published(plain);
    assert.match(storedKeys(dir)[0] ?? "", /^\{"kty"/);
    await plain.stop();

    const server = await start(t, old);
    assert.deepEqual((await published(server)).ids, ids);
    const unknown = await server.run(["keys", "rotate"], { ENCRYPTION_KEYS: fresh });
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /was not started with the first key of ENCRYPTION_KEYS/);
    await server.run(["keys", "rotate"]);
    assert.deepEqual(
      storedKeys(dir).map((text) => text.slice(0, 7)),
      ['{"kty":', "sealed:"],
    );
    assert.equal(JSON.parse((await server.run(["encrypt", "--json"])).stdout).encrypted, 1);
    assert.ok(storedKeys(dir).every((text) => text.startsWith("sealed:")));
    await server.stop();

    const rotated = await start(t, `${fresh},${old}`);
    const { encrypted, missing } = JSON.parse((await rotated.run(["encrypt", "--json"])).stdout);
    assert.deepEqual([encrypted, missing], [2, {}]);
    await rotated.stop();
    assert.deepEqual((await published(await start(t, fresh))).ids[0], ids[0]);
  });

  test("whose key is lost stop no webhook, are named with the remedy, and can be replaced", async (t) => {
    const { old, fresh, start } = await folder();
    const first = await start(t, old);
    const { ids } = await published(first);
    await first.stop();

    const server = await start(t, fresh);
    await deliver(server, event("evt_1"));
    const { status, code } = await published(server);
    assert.deepEqual([status, code], [503, "signing_key_unreadable"]);
    const { error } = await server.logged("request_failed");
    assert.match(String(error), MISSING);
    assert.match(String(error), /run authserve keys rotate --at-once/);
    const doctor = await server.run(["doctor", "--json"]);
    const findings = JSON.parse(doctor.stdout) as { check: string; verdict: string; found: string; remedy: string }[];
    const finding = findings.find(({ found }) => found.includes("signs tokens for apps"));
    assert.deepEqual([finding?.check, finding?.verdict], ["encryption", "wrong"]);
    assert.match(finding?.found ?? "", MISSING);
    assert.match(finding?.remedy ?? "", /keys rotate --at-once/);
    const count = await server.run(["encrypt"]);
    assert.equal(count.code, 1);
    assert.match(count.stderr, /1 row needs the key/);
    assert.match((await server.run(["keys", "list"])).stderr, MISSING);

    const refused = await server.run(["keys", "rotate"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /run authserve keys rotate --at-once/);
    const made = await server.run(["keys", "rotate", "--at-once"]);
    assert.equal(made.code, 0, made.stderr);
    const replaced = await published(server);
    assert.equal(replaced.status, 200);
    assert.ok(!replaced.ids.includes(String(ids[0])));
    assert.doesNotMatch((await server.run(["doctor", "--json"])).stdout, /signs tokens for apps/);
  });
});
