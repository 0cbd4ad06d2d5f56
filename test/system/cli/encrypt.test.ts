import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { EventStore } from "../../../src/events/store.ts";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores, type SqliteStores } from "../../../src/sqlite/stores.ts";
import { createPayloadCodec, encryptionKey, type PayloadCodec } from "../../../src/storage/payload-codec.ts";
import { signingKeyOf } from "../../contract/client-store.ts";
import { EXECUTABLE, runProgram } from "../../helpers/command.ts";
import { claim, claimOf, NOW, newEvent } from "../../helpers/events.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const KEYS = [randomBytes(32), randomBytes(32)] as const;
const [OLD, NEW] = KEYS.map((key) => encryptionKey(key)) as [
  ReturnType<typeof encryptionKey>,
  ReturnType<typeof encryptionKey>,
];

/** A text that is in no other file. */
const SECRET = "planted-7f3a9c";

function keyFile(dir: string, name: string, key: Uint8Array): string {
  const file = join(dir, name);
  writeFileSync(file, `${Buffer.from(key).toString("base64")}\n`, { mode: 0o600 });
  return file;
}

/** Plants the secret in all places that are encrypted, and in rows that are removed. */
async function plant({ events, held, clients }: SqliteStores): Promise<void> {
  const secret = (where: string) => Buffer.from(JSON.stringify({ id: where, text: `${SECRET} `.repeat(500) }));
  const headers = JSON.stringify({ "x-card": SECRET });
  const event = newEvent({ eventId: "one", payload: secret("one"), headers });
  await events.append([event]);
  // A conflict, and a repeat of bytes.
  await events.append([{ ...event, payload: secret("conflict") }]);
  const digest = "ab".repeat(32);
  await events.append([newEvent({ eventId: "two", payload: secret("two"), headers, bytesSha256: digest })]);
  await events.append([newEvent({ eventId: "two-again", payload: secret("two"), headers, bytesSha256: digest })]);
  const job = (await claim(events, { now: NOW })).claimed.find(({ eventId }) => eventId === "one");
  assert.ok(job);
  await events.keepSentBody(job, { payload: secret("sent"), contentType: "text/plain" });
  const next = { to: "failed", reason: "no" } as const;
  const ended = { startedAt: NOW, finishedAt: NOW, error: "refused", response: `you sent ${SECRET}` };
  await events.settle([{ ...claimOf(job), next, ...ended }]);
  const delivery = {
    source: "shop",
    reason: "signature_mismatch",
    method: "POST",
    origin: "https://a",
    target: `/hook?t=${SECRET}`,
    headers,
    mediaType: "text/plain",
    address: "192.0.2.1",
    receivedAt: NOW,
    body: secret("held"),
  };
  await held.hold([
    { delivery, bounds: { count: 1, bytes: 1e9, forMs: 1e9 } },
    { delivery: { ...delivery, body: secret("removed") }, bounds: { count: 1, bytes: 1e9, forMs: 1e9 } },
  ]);
  await clients.addSigningKey(signingKeyOf("k", { privateKey: JSON.stringify({ d: SECRET }) }));
}

/** The files of a folder, at any depth, that have the secret. */
function filesWithSecret(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).filter(
    (name) => statSync(join(dir, name)).isFile() && readFileSync(join(dir, name)).includes(SECRET),
  );
}

function open(dir: string, codec?: PayloadCodec) {
  const database = openDatabase(join(dir, "data"));
  return { stores: localStores(database, undefined, codec), close: () => database.close() };
}

async function encrypt(dir: string, keys: string) {
  const { code, stdout, stderr } = await runProgram(EXECUTABLE, ["encrypt", "--json"], {
    dir,
    env: { DATA_DIR: join(dir, "data"), ENCRYPTION_KEYS: keys },
  });
  return { code, stderr, json: stdout === "" ? null : JSON.parse(stdout) };
}

/** What is stored, as it is read. */
async function contentOf(events: EventStore) {
  const [event] = await events.get("one");
  const [other] = await events.get("two");
  assert.ok(event && other);
  const [job] = event.jobs;
  return {
    payload: String(event.payload),
    headers: event.headers,
    conflict: String(event.conflicts[0]?.payload),
    response: job?.history[0]?.response,
    repeat: other.repeats[0]?.headers,
    found: (await events.list({ search: SECRET, limit: 10 })).items.length,
    history: (await events.history({ after: 0, since: 0, limit: 10 })).map(({ payload }) => String(payload)),
  };
}

suite("encrypt", () => {
  test("leaves no trace of a payload in any file, changes nothing that is read, and rotates", async () => {
    const dir = workingDir();
    const plain = open(dir);
    await plant(plain.stores);
    const before = await contentOf(plain.stores.events);
    plain.close();
    assert.notDeepEqual(filesWithSecret(dir), []);
    const [old, fresh] = [keyFile(dir, "old.key", KEYS[0]), keyFile(dir, "new.key", KEYS[1])];

    const first = await encrypt(dir, old);
    assert.deepEqual(
      [first.code, first.json],
      [0, { encrypted: 8, unreadable: 0, missing: {}, clean: true }],
      first.stderr,
    );
    assert.deepEqual(filesWithSecret(dir), []);
    const encrypted = open(dir, createPayloadCodec([OLD]));
    assert.deepEqual(await contentOf(encrypted.stores.events), before);
    assert.match(String((await encrypted.stores.held.read([2]))[0]?.body), /removed/);
    encrypted.close();

    assert.equal((await encrypt(dir, `${fresh},${old}`)).json.encrypted, 8);
    const rotated = open(dir, createPayloadCodec([NEW]));
    assert.deepEqual(await contentOf(rotated.stores.events), before);
    assert.deepEqual(await rotated.stores.encryption.missingKeys(), []);
    rotated.close();
    const backup = join(dir, "backup.db");
    const { code } = await runProgram(EXECUTABLE, ["backup", backup], { dir, env: { DATA_DIR: join(dir, "data") } });
    assert.equal(code, 0);
    assert.deepEqual(filesWithSecret(dir), []);
  });

  test("says which key is missing, and loses nothing", async () => {
    const dir = workingDir();
    const stored = open(dir, createPayloadCodec([OLD]));
    await plant(stored.stores);
    stored.close();
    const { code, json } = await encrypt(dir, keyFile(dir, "new.key", KEYS[1]));
    assert.deepEqual([code, json], [1, { encrypted: 0, unreadable: 0, missing: { [OLD.id]: 8 }, clean: true }]);
    const again = open(dir, createPayloadCodec([OLD]));
    assert.equal((await contentOf(again.stores.events)).found, 2);
    again.close();
  });

  test("is not said to have its key by doctor if the file cannot be read", async () => {
    for (const hasDatabase of [false, true]) {
      const dir = workingDir();
      if (hasDatabase) open(dir).close();
      const env = { DATA_DIR: join(dir, "data"), ENCRYPTION_KEYS: join(dir, "none") };
      const { code, stdout } = await runProgram(EXECUTABLE, ["doctor"], { dir, env });
      assert.equal(code, 1);
      assert.match(stdout, /none cannot be read \(ENOENT\)/);
      assert.doesNotMatch(stdout, /the key is there/);
    }
  });

  test("needs a key of 32 bytes in each file", async () => {
    const dir = workingDir();
    open(dir).close();
    const file = keyFile(dir, "short.key", randomBytes(16));
    const { code, stderr } = await encrypt(dir, file);
    assert.equal(code, 2);
    assert.match(stderr, /short\.key has no key of 32 bytes in base64 or hex/);
    assert.match((await encrypt(dir, join(dir, "none"))).stderr, /none cannot be read \(ENOENT\)/);
    const pasted = randomBytes(32).toString("base64");
    const refused = await encrypt(dir, pasted);
    assert.match(refused.stderr, /ENCRYPTION_KEYS has a key itself/);
    assert.ok(!refused.stderr.includes(pasted));
  });
});
