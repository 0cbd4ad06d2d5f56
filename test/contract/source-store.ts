import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SourceCounts, SourceStore } from "../../src/webhook/intake/source-store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

/** Counts with some members set by the test, and zero for the others. */
function counts(changes: Partial<SourceCounts> = {}): SourceCounts {
  return {
    source: "stripe",
    received: 0,
    duplicates: 0,
    conflicts: 0,
    repeats: 0,
    refused: 0,
    refusals: {},
    lastReceivedAt: null,
    secrets: [],
    ...changes,
  };
}

/** Counts of one delivery. */
function delivery(secret: string, at: number, source = "stripe", mark = "0a1b"): SourceCounts {
  return counts({ source, received: 1, lastReceivedAt: at, secrets: [{ name: secret, mark, lastUsedAt: at }] });
}

/** The contract of every source store. `open` returns an empty one, which is closed after the test. */
export function sourceStoreContract(adapter: string, open: (context: Cleanup) => Promise<SourceStore>): void {
  suite(`source store: ${adapter}`, () => {
    test("without counts there are no sources", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.list(), []);
      await store.add([], NOW);
      assert.deepEqual(await store.list(), []);
    });

    test("counts are summed for each source, in the order of the names", async (t) => {
      const store = await open(t);
      const other = counts({ source: "github", refused: 7, refusals: { no_signature: 7 } });
      await store.add([counts({ received: 3, refused: 1, refusals: { charset: 1 }, lastReceivedAt: NOW }), other], NOW);
      const refusals = { charset: 1, no_signature: 3 };
      await store.add([counts({ received: 2, refused: 4, refusals, lastReceivedAt: NOW + 5 })], NOW);
      const [github, stripe, ...others] = await store.list();
      assert.deepEqual(others, []);
      const nothing = { lastSecret: null, secrets: [] };
      const ofGithub = { received: 0, refused: 7, refusals: { no_signature: 7 }, lastReceivedAt: null };
      assert.deepEqual(github, { source: "github", ...ofGithub, ...nothing });
      const ofStripe = { received: 5, refused: 5, refusals: { no_signature: 3, charset: 2 }, lastReceivedAt: NOW + 5 };
      assert.deepEqual(stripe, { source: "stripe", ...ofStripe, ...nothing });
      // The most frequent first.
      assert.deepEqual(Object.keys(stripe?.refusals ?? {}), ["no_signature", "charset"]);
    });

    test("the time of the last delivery only moves forward, and refusals do not change it", async (t) => {
      const store = await open(t);
      const lastReceivedAt = async () => (await store.list())[0]?.lastReceivedAt;
      await store.add([counts({ refused: 1 })], NOW);
      assert.equal(await lastReceivedAt(), null);
      await store.add([delivery("env:A", NOW)], NOW);
      await store.add([delivery("env:A", NOW - 1000)], NOW);
      await store.add([counts({ refused: 1 })], NOW);
      assert.equal(await lastReceivedAt(), NOW);
    });

    test("a time ahead of now is replaced by the next one", async (t) => {
      const store = await open(t);
      const ahead = NOW + 1e10;
      await store.add([delivery("env:A", ahead)], ahead);
      await store.add([counts({ refused: 1 })], NOW);
      assert.equal((await store.list())[0]?.lastReceivedAt, ahead);
      await store.add([delivery("env:A", NOW)], NOW);
      const [record] = await store.list();
      assert.equal(record?.lastReceivedAt, NOW);
      assert.deepEqual(record?.secrets, [{ name: "env:A", mark: "0a1b", firstUsedAt: NOW, lastUsedAt: NOW }]);
    });

    test("each secret has its first and its last use, whatever the order of the reports", async (t) => {
      const store = await open(t);
      for (const at of [NOW, NOW + 20, NOW - 30, NOW + 10]) await store.add([delivery("env:A", at)], NOW);
      const use = { name: "env:A", mark: "0a1b", firstUsedAt: NOW - 30, lastUsedAt: NOW + 20 };
      assert.deepEqual((await store.list())[0]?.secrets, [use]);
    });

    test("the use of a secret begins again with another value, which an older report does not undo", async (t) => {
      const store = await open(t);
      const use = (at: number, mark: string) => store.add([delivery("env:A", at, "stripe", mark)], NOW);
      const uses = async () => (await store.list())[0]?.secrets;
      await use(NOW, "old0");
      await use(NOW + 20, "new0");
      const began = [{ name: "env:A", mark: "new0", firstUsedAt: NOW + 20, lastUsedAt: NOW + 20 }];
      assert.deepEqual(await uses(), began);
      await use(NOW + 10, "old0");
      assert.deepEqual(await uses(), began);
      await use(NOW + 30, "new0");
      assert.deepEqual(await uses(), [{ ...began[0], lastUsedAt: NOW + 30 }]);
    });

    test("the last secret is the one that was used last", async (t) => {
      const store = await open(t);
      const secrets = async () => {
        const [record] = await store.list();
        return [record?.lastSecret, record?.secrets.map(({ name }) => name).join(" ")];
      };
      await store.add([delivery("env:OLD", NOW + 10)], NOW);
      await store.add([delivery("env:NEW", NOW)], NOW);
      assert.deepEqual(await secrets(), ["env:OLD", "env:OLD env:NEW"]);
      await store.add([delivery("env:NEW", NOW + 20)], NOW);
      assert.deepEqual(await secrets(), ["env:NEW", "env:NEW env:OLD"]);
    });

    test("reports of one source are taken in their order, also with equal times", async (t) => {
      const store = await open(t);
      const use = (at: number, mark: string) => delivery("env:ÑO", at, "ñ", mark);
      await store.add([use(NOW, "old0"), use(NOW + 5, "new0"), use(NOW + 5, "new1"), use(NOW + 1, "old0")], NOW);
      const began = { name: "env:ÑO", mark: "new1", firstUsedAt: NOW + 5, lastUsedAt: NOW + 5 };
      assert.deepEqual((await store.list())[0]?.secrets, [began]);
      await store.add([use(NOW + 5, "new2"), use(NOW - 5, "new2"), use(-1, "new2")], NOW);
      const record = (await store.list())[0];
      assert.deepEqual(record?.secrets, [{ ...began, mark: "new2", firstUsedAt: -1 }]);
      assert.equal(record?.lastReceivedAt, NOW + 5);
    });

    test("secrets and reasons with equal times or numbers are in the order of their bytes", async (t) => {
      const store = await open(t);
      const names = ["z", "Z", "é", "a", "😀", "\uff5e"];
      const refusals = Object.fromEntries(names.map((name) => [name, 1]));
      const secrets = names.map((name) => ({ name, mark: "m", lastUsedAt: NOW }));
      await store.add([...names.map((source) => counts({ source })), counts({ source: "é", secrets, refusals })], NOW);
      const records = await store.list();
      const inOrder = ["Z", "a", "z", "é", "\uff5e", "😀"];
      const record = records.find(({ source }) => source === "é");
      assert.deepEqual(
        records.map(({ source }) => source),
        inOrder,
      );
      assert.deepEqual(
        record?.secrets.map(({ name }) => name),
        inOrder,
      );
      assert.deepEqual(Object.keys(record?.refusals ?? {}), inOrder);
    });

    test("secrets of one name in two sources are apart", async (t) => {
      const store = await open(t);
      await store.add([delivery("env:A", NOW, "one"), delivery("env:A", NOW + 1, "two")], NOW);
      assert.deepEqual(
        (await store.list()).map(({ secrets }) => secrets[0]?.lastUsedAt),
        [NOW, NOW + 1],
      );
    });

    test("secrets that handshakes brought are kept until they are forgotten", async (t) => {
      const store = await open(t);
      const secret = (source: string, value: string, receivedAt = NOW) => ({
        source,
        value,
        receivedAt,
        address: "192.0.2.1",
      });
      const values = async () => (await store.keptSecrets()).map(({ source, value }) => `${source} ${value}`);
      assert.deepEqual(await values(), []);
      assert.equal(await store.keepSecret(secret("notion", "é'\0;"), 2), true);
      assert.equal(await store.keepSecret(secret("asana", "b", NOW + 1), 2), true);
      assert.equal(await store.keepSecret(secret("asana", "a"), 2), true);
      assert.deepEqual(await values(), ["asana a", "asana b", "notion é'\0;"]);
      assert.equal(await store.keepSecret(secret("asana", "c"), 2), false);
      assert.equal(await store.keepSecret(secret("asana", "a", NOW + 9), 2), true);
      assert.equal(await store.keepSecret(secret("asana-2", "c"), 2), true);
      assert.deepEqual((await store.keptSecrets())[0], secret("asana", "a"));
      await store.forgetSecrets([
        { source: "asana", value: "a" },
        { source: "other", value: "b" },
      ]);
      assert.deepEqual(await values(), ["asana b", "asana-2 c", "notion é'\0;"]);
      await store.forgetSecrets([]);
      assert.deepEqual(await store.list(), []);
    });

    test("secrets that came at one time are in one order", async (t) => {
      const store = await open(t);
      const values = [..."dbeac"];
      for (const value of values) await store.keepSecret({ source: "asana", value, receivedAt: NOW, address: "" }, 9);
      assert.deepEqual(
        (await store.keptSecrets()).map(({ value }) => value),
        values.sort(),
      );
    });

    test("sums beyond 32 bits are exact", async (t) => {
      const store = await open(t);
      for (let i = 0; i < 2; i++) await store.add([counts({ received: 2 ** 32 + 1 })], NOW);
      assert.equal((await store.list())[0]?.received, 2 ** 33 + 2);
    });
  });
}
