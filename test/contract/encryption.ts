import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { suite, test } from "node:test";
import type { ClientStore } from "../../src/auth/clients/store.ts";
import type { EncryptionStore } from "../../src/events/encryption.ts";
import type { EventStore } from "../../src/events/store.ts";
import { createPayloadCodec, encryptionKey, type PayloadCodec } from "../../src/storage/payload-codec.ts";
import type { HeldStore } from "../../src/webhook/held/held-store.ts";
import { claim, claimOf, fanOut, NOW, newEvent } from "../helpers/events.ts";
import { failsWith } from "../helpers/fails-with.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { signingKeyOf } from "./client-store.ts";

interface EncryptedStores {
  events: EventStore;
  held: HeldStore;
  clients: ClientStore;
  encryption: EncryptionStore;
}

const OLD = encryptionKey(randomBytes(32));
const NEW = encryptionKey(randomBytes(32));

const WITHOUT_KEY = createPayloadCodec([]);
const WITH_OLD = createPayloadCodec([OLD]);
const WITH_NEW = createPayloadCodec([NEW]);
const WITH_BOTH = createPayloadCodec([NEW, OLD]);

/** A text that only payloads have. */
const TEXT = "planted-2c91e7";

const eventOf = (eventId: string) =>
  newEvent({ eventId, payload: Buffer.from(`{"text":"${TEXT} ${eventId}"}`), headers: `{"x-text":"${TEXT}"}` });

const payloadOf = async ({ events }: EncryptedStores, eventId: string) =>
  String((await events.get(eventId))[0]?.payload);

const foundBy = async ({ events }: EncryptedStores) =>
  (await events.list({ search: TEXT, limit: 10 })).items.map(({ eventId }) => eventId).sort();

/** Encrypts everything with the first key, few rows at a time. */
async function resealAll({ encryption }: EncryptedStores): Promise<number> {
  let changed = 0;
  for (const table of encryption.tables) {
    for (let from: number | null = 0; from !== null; ) {
      const page = await encryption.reseal({ table, from, limit: 2 });
      changed += page.changed;
      from = page.next;
    }
  }
  return changed;
}

/** The suite of encryption. `open` opens stores on one database of the test with any codec. */
export function encryptionContract(
  adapter: string,
  open: (context: Cleanup) => Promise<(codec: PayloadCodec) => EncryptedStores>,
): void {
  suite(`encryption: ${adapter}`, () => {
    test("plain rows and rows of several keys are read together, and are changed to the first key", async (t) => {
      const as = await open(t);
      await as(WITHOUT_KEY).events.append([eventOf("plain")]);
      await as(WITH_OLD).events.append([eventOf("old")]);
      await as(WITH_NEW).events.append([eventOf("new")]);
      const all = as(WITH_BOTH);
      const ids = ["new", "old", "plain"];
      await fanOut(all.events);
      assert.deepEqual(await foundBy(all), ids);
      for (const id of ids) assert.equal(await payloadOf(all, id), `{"text":"${TEXT} ${id}"}`);
      assert.equal((await claim(all.events, { now: NOW })).claimed.length, 3);
      assert.equal(await resealAll(all), 2);
      assert.equal(await resealAll(all), 0);
      const last = as(WITH_NEW);
      assert.deepEqual(await foundBy(last), ids);
      assert.deepEqual(await last.encryption.forgetKeys(), {});
    });

    test("without its key an event is a dead letter with the reason, and with the key it is replayed", async (t) => {
      const as = await open(t);
      await as(WITH_OLD).events.append([eventOf("old")]);
      const { events } = as(WITH_NEW);
      assert.equal((await events.append([eventOf("new")]))[0]?.duplicate, false);
      await fanOut(events);
      const { claimed, unreadable } = await claim(events, { now: NOW });
      assert.deepEqual(
        claimed.map(({ eventId }) => eventId),
        ["new"],
      );
      assert.match(
        unreadable[0]?.error ?? "",
        new RegExp(`is encrypted with the key ${OLD.id}, which ENCRYPTION_KEYS`),
      );
      await failsWith("encryption_key_missing", events.get("old"));
      assert.deepEqual(await foundBy(as(WITH_NEW)), ["new"]);
      // A readiness check must not take it for damage.
      await events.check();
      assert.equal((await events.backlog()).unreadable, 0);

      const again = as(WITH_BOTH).events;
      assert.equal(await again.replay({ eventId: "old", source: "default" }, NOW), 1);
      assert.deepEqual(
        (await claim(again, { now: NOW })).claimed.map(({ eventId }) => eventId),
        ["old"],
      );
    });

    test("without its key a known signed id stays a duplicate, and so it is with the key", async (t) => {
      const as = await open(t);
      await as(WITH_OLD).events.append([eventOf("old")]);
      for (const codec of [WITH_NEW, WITHOUT_KEY, WITH_OLD]) {
        const [appended] = await as(codec).events.append([eventOf("old")]);
        assert.deepEqual([appended?.duplicate, appended?.conflict], [true, false]);
      }
      const [conflict] = await as(WITH_OLD).events.append([{ ...eventOf("old"), payload: Buffer.from("other") }]);
      assert.equal(conflict?.conflict, true);
    });

    test("the answers of attempts are encrypted, also those that look encrypted", async (t) => {
      const as = await open(t);
      const { events } = as(WITHOUT_KEY);
      await events.append([eventOf("one")]);
      await fanOut(events);
      const [job] = (await claim(events, { now: NOW })).claimed;
      assert.ok(job);
      const response = `sealed:${OLD.id}:x`;
      const next = { to: "processed" } as const;
      await events.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error: null, response }]);
      const answerIn = async (codec: PayloadCodec) =>
        (await as(codec).events.get("one"))[0]?.jobs[0]?.history[0]?.response;
      assert.equal(await answerIn(WITHOUT_KEY), response);
      await resealAll(as(WITH_OLD));
      assert.equal(await answerIn(WITH_OLD), response);
      await resealAll(as(WITH_BOTH));
      assert.equal(await answerIn(WITH_NEW), response);
    });

    test("where the answers of a shadow differ is encrypted, and read with the key only", async (t) => {
      const as = await open(t);
      const { events } = as(WITH_OLD);
      await events.append([eventOf("one")]);
      await fanOut(events);
      const [job] = (await claim(events, { now: NOW })).claimed;
      assert.ok(job);
      const difference = { place: "body a", expected: TEXT, found: "other" };
      await events.addComparisons([{ event: job.event, route: "next", at: NOW, outcome: "different", difference }]);
      const read = async (codec: PayloadCodec) => (await as(codec).events.differences("next"))[0]?.expected;
      assert.equal(await read(WITH_OLD), TEXT);
      await assert.rejects(read(WITHOUT_KEY), { code: "encryption_key_missing" });
      await resealAll(as(WITH_BOTH));
      assert.equal(await read(WITH_NEW), TEXT);
    });

    test("a held delivery is read with its key, and the others of a list without it", async (t) => {
      const as = await open(t);
      const delivery = {
        source: "shop",
        reason: "signature_mismatch",
        method: "POST",
        origin: "https://a",
        target: "/hook?a=b",
        headers: '{"a":"b"}',
        mediaType: "text/plain",
        address: "192.0.2.1",
        receivedAt: NOW,
        body: Buffer.from(TEXT),
      };
      const bounds = { count: 10, bytes: 1000, forMs: 1000 };
      await as(WITH_OLD).held.hold([{ delivery, bounds }]);
      await as(WITH_NEW).held.hold([{ delivery, bounds }]);
      const ids = (await as(WITH_NEW).held.list({ limit: 10 })).map(({ id, bytes }) => {
        assert.equal(bytes, TEXT.length);
        return id;
      });
      assert.equal((await as(WITH_NEW).held.read(ids)).length, 1);
      await failsWith("encryption_key_missing", as(WITH_NEW).held.read(ids.slice(0, 1)));
      await resealAll(as(WITH_BOTH));
      const read = await as(WITH_NEW).held.read(ids);
      assert.deepEqual(
        read.map(({ id: _, ...stored }) => ({ ...stored, body: String(stored.body) })),
        [delivery, delivery].map((sent) => ({ ...sent, body: TEXT })),
      );
      await as(WITH_NEW).held.remove(ids);
      assert.deepEqual(await as(WITH_NEW).held.sources(), []);
    });

    test("keys that sign tokens are encrypted, also plain ones, and one that cannot be opened says why", async (t) => {
      const as = await open(t);
      const keys = ["a", "b", "c", "d", "e"].map((id) => signingKeyOf(id, { privateKey: `{"d":"${id}"}` }));
      for (const [index, codec] of [WITHOUT_KEY, WITH_OLD, WITH_OLD, WITH_NEW, WITHOUT_KEY].entries())
        await as(codec).clients.addSigningKey(keys[index] as (typeof keys)[number]);
      const readWith = async (codec: PayloadCodec) => {
        const read = await as(codec).clients.signingKeys();
        return read.map(({ privateKey, fault }) => privateKey ?? fault);
      };
      const all = keys.map(({ privateKey }) => privateKey);
      const [a, b, c, , e] = all;
      const lacks = (id: string) => `is encrypted with the key ${id}, which ENCRYPTION_KEYS does not have`;
      assert.deepEqual(await readWith(WITHOUT_KEY), [a, lacks(OLD.id), lacks(OLD.id), lacks(NEW.id), e]);
      assert.deepEqual(await readWith(WITH_OLD), [a, b, c, lacks(NEW.id), e]);
      assert.deepEqual(await as(WITH_NEW).encryption.forgetKeys(), { [OLD.id]: 2 });
      assert.equal(await resealAll(as(WITH_NEW)), 2);
      assert.equal(await resealAll(as(WITH_BOTH)), 2);
      assert.deepEqual(await readWith(WITH_NEW), all);
      assert.deepEqual(await readWith(WITHOUT_KEY), Array(5).fill(lacks(NEW.id)));
      assert.deepEqual(await as(WITH_NEW).encryption.forgetKeys(), {});
    });
  });
}
