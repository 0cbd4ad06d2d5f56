import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { digestOf } from "../../src/auth/machine-tokens/form.ts";
import { type NewToken, type TokenStore, USE_EVERY_MS } from "../../src/auth/machine-tokens/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

/** A new token, with some members set by the test. */
export function newTokenOf(name: string, changes: Partial<NewToken> = {}): NewToken {
  const scopes = ["verify:app.example.com", "events:read"];
  return { name, digest: digestOf(name), scopes, createdAt: NOW, expiresAt: NOW + 90 * 86_400_000, ...changes };
}

const namesOf = async (store: TokenStore) => (await store.list()).map(({ name }) => name);

/** The contract of every token store. `open` returns an empty one, which is closed after the test. */
export function tokenStoreContract(adapter: string, open: (context: Cleanup) => Promise<TokenStore>): void {
  suite(`token store: ${adapter}`, () => {
    test("is empty at first", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.list(), []);
      assert.equal(await store.find(digestOf("a")), null);
      assert.deepEqual(await store.revoke("all"), []);
    });

    test("a token is found by its digest, with every member", async (t) => {
      const store = await open(t);
      assert.equal(await store.create(newTokenOf("backup")), true);
      const { digest, ...created } = newTokenOf("backup");
      const expected = { ...created, lastUsedAt: null, lastNetwork: null };
      assert.deepEqual(await store.find(digest), expected);
      assert.deepEqual(await store.list(), [expected]);
      assert.equal(await store.find(digestOf("other")), null);
    });

    test("a token that never expires has no expiry", async (t) => {
      const store = await open(t);
      await store.create(newTokenOf("a", { expiresAt: null }));
      assert.equal((await store.find(digestOf("a")))?.expiresAt, null);
    });

    test("a name is taken once, and the first token stays as it is", async (t) => {
      const store = await open(t);
      await store.create(newTokenOf("a"));
      const again = { digest: digestOf("again"), scopes: ["metrics"] };
      assert.equal(await store.create(newTokenOf("a", again)), false);
      assert.deepEqual((await store.list())[0]?.scopes, newTokenOf("a").scopes);
      assert.equal(await store.find(digestOf("again")), null);
    });

    test("of many that take a name at once, one gets it", async (t) => {
      const store = await open(t);
      const tries = Array.from({ length: 10 }, (_, n) => store.create(newTokenOf("a", { digest: digestOf(`${n}`) })));
      assert.equal((await Promise.all(tries)).filter(Boolean).length, 1);
    });

    test("tokens are listed by name", async (t) => {
      const store = await open(t);
      for (const name of ["b", "a-1", "a", "0"]) await store.create(newTokenOf(name));
      assert.deepEqual(await namesOf(store), ["0", "a", "a-1", "b"]);
    });

    test("a use is written at most once a minute", async (t) => {
      const store = await open(t);
      await store.create(newTokenOf("a"));
      await store.create(newTokenOf("b"));
      const lastUse = async () => {
        const { lastUsedAt, lastNetwork } = (await store.find(digestOf("a"))) ?? {};
        return [lastUsedAt, lastNetwork];
      };
      await store.use("a", NOW, "192.0.2.0/24");
      assert.deepEqual(await lastUse(), [NOW, "192.0.2.0/24"]);
      await store.use("a", NOW + USE_EVERY_MS - 1, "198.51.100.0/24");
      assert.deepEqual(await lastUse(), [NOW, "192.0.2.0/24"]);
      await store.use("a", NOW + USE_EVERY_MS, "198.51.100.0/24");
      assert.deepEqual(await lastUse(), [NOW + USE_EVERY_MS, "198.51.100.0/24"]);
      assert.equal((await store.find(digestOf("b")))?.lastUsedAt, null);
    });

    test("a use by a clock that is right again is written", async (t) => {
      const store = await open(t);
      await store.create(newTokenOf("a"));
      await store.use("a", NOW + 3_600_000, "192.0.2.0/24");
      await store.use("a", NOW, "192.0.2.0/24");
      assert.equal((await store.find(digestOf("a")))?.lastUsedAt, NOW);
    });

    test("a use of a revoked token changes nothing", async (t) => {
      const store = await open(t);
      await store.use("a", NOW, "192.0.2.0/24");
      assert.deepEqual(await store.list(), []);
    });

    test("revoked tokens are gone, and the others stay", async (t) => {
      const store = await open(t);
      for (const name of ["a", "b", "c"]) await store.create(newTokenOf(name));
      assert.deepEqual(await store.revoke(["a", "none", "c"]), ["a", "c"]);
      assert.deepEqual(await namesOf(store), ["b"]);
      assert.equal(await store.find(digestOf("a")), null);
      assert.equal(await store.create(newTokenOf("a")), true);
      assert.deepEqual(await store.revoke("all"), ["a", "b"]);
      assert.deepEqual(await namesOf(store), []);
    });
  });
}
