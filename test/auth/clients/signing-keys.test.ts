import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { decodeProtectedHeader, exportSPKI, importJWK, SignJWT } from "jose";
import { createSigningKeys, rotateKeys } from "../../../src/auth/clients/signing-keys.ts";
import type { SigningKeyRecord, StoredSigningKey } from "../../../src/auth/clients/store.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import { failsWith } from "../../helpers/fails-with.ts";

const ISSUER = "https://auth.example.com";

/** Keys in memory, on a clock that the test sets. Those whose id is in `lost` cannot be read. */
function createStore() {
  const records: SigningKeyRecord[] = [];
  const lost = new Set<string>();
  const read = ({ privateKey, ...key }: SigningKeyRecord): StoredSigningKey =>
    lost.has(key.id) ? { ...key, privateKey: null, fault: "is encrypted" } : { ...key, privateKey, fault: null };
  return {
    lost,
    time: 1_800_000_000_000,
    signingKeys: async () => records.map(read),
    addSigningKey: async (key: SigningKeyRecord) => void records.push(key),
    removeSigningKeys: async (ids: readonly string[]) =>
      void records.splice(0, records.length, ...records.filter(({ id }) => !ids.includes(id))),
  };
}

function createKeys(store = createStore()) {
  return createSigningKeys({ store, now: () => store.time });
}

const idOf = (token: string) => String(decodeProtectedHeader(token).kid);

suite("a first key", () => {
  test("is made once for all that need it at the same time", async () => {
    const keys = createKeys();
    await Promise.all(Array.from({ length: 20 }, () => keys.published()));
    assert.equal((await keys.published()).length, 1);
  });
});

suite("verify", () => {
  test("takes an ID token of its issuer, also after its end, and before its beginning", async () => {
    const keys = createKeys();
    for (const algorithm of ["RS256", "ES256"] as const)
      for (const times of [{ exp: 1 }, { nbf: 9_999_999_999, iat: 9_999_999_999 }]) {
        const token = await keys.sign({ iss: ISSUER, sub: "1", ...times }, algorithm, "JWT");
        assert.equal((await keys.verify(token, ISSUER))?.sub, "1");
        assert.equal(await keys.verify(token, "https://other.example"), null);
        assert.equal(await keys.verify(`${token.slice(0, -8)}AAAAAAAA`, ISSUER), null);
      }
  });

  test("takes no logout token, no other server's, and none that the public key or nothing has signed", async () => {
    const keys = createKeys();
    const claims = { iss: ISSUER, sub: "1" };
    const logout = await keys.sign(claims, "RS256", "logout+jwt");
    const other = await createKeys().sign(claims, "RS256", "JWT");
    const [jwk] = await keys.published();
    assert.ok(jwk);
    const { kid = "" } = jwk;
    const pem = await exportSPKI((await importJWK(jwk, "RS256", { extractable: true })) as CryptoKey);
    const signed = (secret: string) =>
      new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "JWT", kid }).sign(Buffer.from(secret));
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${part({ alg: "none", typ: "JWT", kid })}.${part(claims)}.`;
    const confused = [await signed(pem), await signed(JSON.stringify(jwk))];
    for (const token of [logout, other, unsigned, ...confused]) assert.equal(await keys.verify(token, ISSUER), null);
  });
});

suite("a key that is replaced", () => {
  /** A store with a key that signs, and what it does later. */
  async function begin() {
    const store = createStore();
    const keys = createKeys(store);
    const sign = async (algorithm: "RS256" | "ES256" = "ES256") =>
      idOf(await keys.sign({ iss: ISSUER }, algorithm, "JWT"));
    return {
      store,
      sign,
      first: await sign(),
      published: async () => (await keys.published()).filter(({ alg }) => alg === "ES256").map(({ kid }) => kid),
      rotate: async (atOnce = false) => {
        const made = await rotateKeys(store, store.time, { atOnce });
        // What a server knows is read again after a minute.
        store.time += 60_000;
        return made;
      },
    };
  }

  test("is published with the next one, which signs after two hours, and a day longer", async () => {
    const { store, first, sign, published, rotate } = await begin();
    const [next] = await rotate();
    assert.ok(next);
    assert.deepEqual([await sign(), await published()], [first, [first, next.id]]);
    store.time = next.signsFrom - 1;
    assert.equal(await sign(), first);
    store.time += 1;
    assert.deepEqual([await sign(), await published()], [next.id, [first, next.id]]);
    store.time += DAY_MS + HOUR_MS;
    assert.deepEqual([await sign(), await published()], [next.id, [first, next.id]]);
    store.time += 60_000;
    assert.deepEqual(await published(), [next.id]);
  });

  test("is one of each algorithm, and none is made while one waits", async () => {
    const { store, sign, rotate } = await begin();
    assert.deepEqual(await rotateKeys(createStore(), store.time, { atOnce: false }), []);
    await rotate();
    assert.deepEqual(await rotate(), []);
    await sign("RS256");
    assert.deepEqual(
      (await rotate()).map(({ algorithm }) => algorithm),
      ["RS256"],
    );
    assert.deepEqual(await rotate(), []);
  });

  test("gets a next one by itself after 90 days, once", async () => {
    const { store, first, sign, published } = await begin();
    store.time += 90 * DAY_MS - 1;
    await sign();
    assert.deepEqual(await published(), [first]);
    store.time += 1;
    for (let n = 0; n < 3; n++) assert.equal(await sign(), first);
    assert.equal((await published()).length, 2);
    store.time += 2 * HOUR_MS;
    assert.notEqual(await sign(), first);
  });

  test("signs no more at once if that is asked for, and a key that waited never does", async () => {
    const { store, first, sign, published, rotate } = await begin();
    const [waiting] = await rotate();
    const [next] = await rotate(true);
    assert.equal(await sign(), next?.id);
    assert.deepEqual(await published(), [first, waiting?.id, next?.id]);
    store.time += 3 * HOUR_MS;
    assert.equal(await sign(), next?.id);
  });
});

suite("a key that cannot be read", () => {
  test("is an error with the remedy, and another one takes its place only if that is asked for", async () => {
    const store = createStore();
    const own = createKeys(store);
    const sign = () => own.sign({ iss: ISSUER }, "ES256", "JWT");
    const lost = idOf(await sign());
    store.lost.add(lost);
    store.time += 60_000;
    await assert.rejects(sign(), ({ code, cause }) => {
      assert.match(String(cause), new RegExp(`the key ${lost} is encrypted: .* authserve keys rotate --at-once`));
      return code === "signing_key_unreadable";
    });
    await failsWith("signing_key_unreadable", rotateKeys(store, store.time, { atOnce: false }));
    // A key of another algorithm is made, and published.
    assert.deepEqual(
      (await own.published()).map(({ alg }) => alg),
      ["RS256"],
    );
    assert.equal((await store.signingKeys()).length, 2);
    await rotateKeys(store, store.time, { atOnce: true });
    store.time += 60_000;
    assert.notEqual(idOf(await sign()), lost);
    store.time += 2 * DAY_MS;
    await sign();
    assert.ok((await store.signingKeys()).every(({ id }) => id !== lost));
  });

  test("leaves an older one in use, and in the store", async () => {
    const store = createStore();
    const own = createKeys(store);
    const sign = async () => idOf(await own.sign({ iss: ISSUER }, "ES256", "JWT"));
    const first = await sign();
    store.time += 60_000;
    for (const { id } of await rotateKeys(store, store.time, { atOnce: true })) store.lost.add(id);
    store.time += 3 * DAY_MS;
    assert.deepEqual([await sign(), await sign()], [first, first]);
  });

  test("alone is no list of keys for apps", async () => {
    const store = createStore();
    await createKeys(store).published();
    for (const { id } of await store.signingKeys()) store.lost.add(id);
    await failsWith("signing_key_unreadable", createKeys(store).published());
  });
});
