import assert from "node:assert/strict";
import { test } from "node:test";
import { localStores } from "../../../src/sqlite/stores.ts";
import { keepReceivedSecret } from "../../../src/webhook/secrets/received-secrets.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { secretOf } from "../../helpers/secret.ts";

const received = (value: string, receivedAt = 1) => ({ value, receivedAt, address: "192.0.2.1" });
const PLACEHOLDER = secretOf("a secret that has never verified", "env:ASANA");

test("a source keeps secrets that handshakes bring while none of its own has verified a delivery", async (t) => {
  const store = localStores(tempDatabase(t).database).sources;
  for (const [secrets, value] of [
    [[], "the first"],
    [[PLACEHOLDER], "the second"],
  ] as const)
    assert.equal(await keepReceivedSecret(store, { name: "asana", secrets }, received(value)), "kept");
  const use = { name: PLACEHOLDER.name, mark: PLACEHOLDER.mark, lastUsedAt: 1 };
  const counts = {
    source: "asana",
    received: 1,
    duplicates: 0,
    conflicts: 0,
    repeats: 0,
    refused: 0,
    refusals: {},
    lastReceivedAt: 1,
  };
  await store.add([{ ...counts, secrets: [use] }], 1);
  const asana = { name: "asana", secrets: [PLACEHOLDER] };
  assert.equal(await keepReceivedSecret(store, asana, received("a third")), "verified");
  // Its value has changed, so it has not verified anything yet.
  const changed = { name: "asana", secrets: [secretOf("another value", "env:ASANA")] };
  assert.equal(await keepReceivedSecret(store, changed, received("a third")), "kept");
  const values = (await store.keptSecrets()).map(({ value }) => value);
  assert.deepEqual(values.sort(), ["a third", "the first", "the second"]);
});

test("a secret that the source has already is not kept", async (t) => {
  const store = localStores(tempDatabase(t).database).sources;
  const source = { name: "asana", secrets: [PLACEHOLDER] };
  assert.equal(await keepReceivedSecret(store, source, received(PLACEHOLDER.value)), "known");
  assert.deepEqual(await store.keptSecrets(), []);
});

test("later secrets replace none of the first five, which a stranger cannot push out", async (t) => {
  const store = localStores(tempDatabase(t).database).sources;
  const asana = { name: "asana", secrets: [] };
  for (let n = 1; n <= 5; n++) assert.equal(await keepReceivedSecret(store, asana, received(`secret ${n}`, n)), "kept");
  assert.equal(await keepReceivedSecret(store, asana, received("secret 6", 6)), "full");
  assert.equal(await keepReceivedSecret(store, asana, received("secret 1", 7)), "kept");
  const values = (await store.keptSecrets()).map(({ value }) => value);
  assert.deepEqual(values, ["secret 1", "secret 2", "secret 3", "secret 4", "secret 5"]);
});
