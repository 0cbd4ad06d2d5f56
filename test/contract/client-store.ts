import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { suite, test } from "node:test";
import {
  type AuthorizationCode,
  type ClientStore,
  type ClientToken,
  MAX_PURGED,
  type SigningKeyRecord,
} from "../../src/auth/clients/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

const digestOf = (value: string) => hash("sha256", value);

const GRANT = {
  client: "photos",
  userId: "u-1",
  sid: "s-1",
  scope: "openid offline_access",
  authenticatedAt: NOW - 5000,
  method: "passkey",
  nonce: "n ñ",
} as const;

/** A code with this value, with some members set by the test. */
export function codeOf(value: string, changes: Partial<AuthorizationCode> = {}): AuthorizationCode {
  const redirectUri = "https://photos.example.com/callback";
  return { ...GRANT, digest: digestOf(value), redirectUri, challenge: "c", expiresAt: NOW + 60_000, ...changes };
}

/** A token with this value, of the family of the code `a`, with some members set by the test. */
export function clientTokenOf(value: string, changes: Partial<ClientToken> = {}): ClientToken {
  const times = { issuedAt: NOW, expiresAt: NOW + 900_000 };
  return { ...GRANT, digest: digestOf(value), kind: "access", family: digestOf("a"), ...times, ...changes };
}

/** A key, with some members set by the test. */
export function signingKeyOf(id: string, changes: Partial<SigningKeyRecord> = {}): SigningKeyRecord {
  return { id, algorithm: "RS256", privateKey: '{"kty":"RSA"}', createdAt: NOW, signsFrom: NOW + 1, ...changes };
}

const countOf = (results: unknown[]) => results.filter(Boolean).length;
const manyOf = <Result>(count: number, make: (n: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

/** The values of a family's first tokens. */
const first = (code: string) => ({ access: `${code}-access`, refresh: `${code}-refresh` });

/** The tokens that an app gets for a code. */
function tokensFor(code: string, changes: Partial<ClientToken> = {}): ClientToken[] {
  const { access, refresh } = first(code);
  const family = { family: digestOf(code), ...changes };
  return [clientTokenOf(access, family), clientTokenOf(refresh, { ...family, kind: "refresh" })];
}

/** The tokens that take the place of the refresh token of a code. */
const nextFor = (code: string, name = "next", changes: Partial<ClientToken> = {}) =>
  tokensFor(code, changes).map((token) => ({ ...token, digest: digestOf(`${code}-${token.kind}-${name}`) }));

/** Lets an app get tokens for a code. */
async function begin(store: ClientStore, code: string, changes: Partial<ClientToken & AuthorizationCode> = {}) {
  const { digest, client, sid, userId } = codeOf(code, changes);
  await store.addCode(codeOf(code, { client, sid, userId }));
  assert.equal((await store.useCode(digest))?.digest, digest);
  assert.equal(await store.addTokens(tokensFor(code, changes)), true);
}

/** How many of these tokens are found. */
const foundOf = async (store: ClientStore, tokens: readonly ClientToken[]) =>
  countOf(await Promise.all(tokens.map(({ digest }) => store.findToken(digest))));

/** The contract of every store of clients. `open` returns an empty one, which is closed after the test. */
export function clientStoreContract(adapter: string, open: (context: Cleanup) => Promise<ClientStore>): void {
  suite(`client store: ${adapter}`, () => {
    test("is empty at first", async (t) => {
      const store = await open(t);
      assert.equal(await store.useCode(digestOf("a")), null);
      assert.equal(await store.findToken(digestOf("a")), null);
      assert.equal(await store.rotate(digestOf("a"), nextFor("a")), false);
      assert.equal(await store.consent("u-1", "photos"), null);
      assert.deepEqual(await store.participations(), []);
      assert.deepEqual(await store.failedLogouts(), []);
      assert.deepEqual(await store.signingKeys(), []);
      assert.equal(await store.purge(NOW), false);
    });

    test("a code is used once, with every member, also an expired one", async (t) => {
      const store = await open(t);
      const bare = codeOf("bare", { challenge: null, nonce: null, method: null, expiresAt: 1 });
      for (const code of [codeOf("a"), bare]) {
        await store.addCode(code);
        assert.deepEqual(await store.useCode(code.digest), code);
        assert.equal(await store.useCode(code.digest), null);
      }
    });

    test("of many uses of a code at once, one gets it, and its family gets no tokens", async (t) => {
      const store = await open(t);
      await store.addCode(codeOf("a"));
      assert.equal(countOf(await manyOf(20, () => store.useCode(digestOf("a")))), 1);
      assert.equal(await store.addTokens(tokensFor("a")), false);
      assert.equal(await foundOf(store, tokensFor("a")), 0);
      assert.deepEqual(await store.participations(), []);
    });

    test("the second use of a code removes the tokens of its family, and no others", async (t) => {
      const store = await open(t);
      for (const code of ["a", "b"]) await begin(store, code);
      assert.equal(await store.rotate(digestOf(first("a").refresh), nextFor("a")), true);
      assert.equal(await store.useCode(digestOf("a")), null);
      assert.equal(await foundOf(store, [...tokensFor("a"), ...nextFor("a")]), 0);
      assert.equal(await foundOf(store, tokensFor("b")), 2);
    });

    test("the second use of a code at the moment when its tokens are added leaves none", async (t) => {
      const store = await open(t);
      await manyOf(20, async (n) => {
        const code = `c-${n}`;
        await store.addCode(codeOf(code));
        await store.useCode(digestOf(code));
        await Promise.all([store.useCode(digestOf(code)), store.addTokens(tokensFor(code))]);
        assert.equal(await foundOf(store, tokensFor(code)), 0);
      });
    });

    test("a code that is unknown, or was not used, brings no tokens", async (t) => {
      const store = await open(t);
      await store.addCode(codeOf("unused"));
      for (const code of ["unknown", "unused"]) assert.equal(await store.addTokens(tokensFor(code)), false);
      assert.deepEqual(await store.participations(), []);
    });

    test("a token is found with every member, also an expired one", async (t) => {
      const store = await open(t);
      const changes = { nonce: null, method: null, expiresAt: NOW - 1, scope: "openid" } as const;
      await begin(store, "a", changes);
      const [access, refresh] = tokensFor("a", changes);
      assert.deepEqual(await store.findToken(access?.digest ?? ""), access);
      assert.deepEqual(await store.findToken(refresh?.digest ?? ""), refresh);
      await begin(store, "b");
      assert.deepEqual(await store.findToken(digestOf(first("b").access)), tokensFor("b")[0]);
    });

    test("a refresh token is used once, and others take its place", async (t) => {
      const store = await open(t);
      await begin(store, "a");
      const { access, refresh } = first("a");
      assert.equal(await store.rotate(digestOf(refresh), nextFor("a")), true);
      assert.equal(await store.findToken(digestOf(refresh)), null);
      assert.equal(await foundOf(store, nextFor("a")), 2);
      assert.equal(await store.rotate(digestOf(access), nextFor("a", "later")), false);
      assert.equal(await store.rotate(digestOf("unknown"), nextFor("a", "later")), false);
      assert.equal(await foundOf(store, [...tokensFor("a"), ...nextFor("a")]), 3);
    });

    test("the second use of a refresh token removes its family, and no others", async (t) => {
      const store = await open(t);
      for (const code of ["a", "b"]) await begin(store, code);
      const { refresh } = first("a");
      await store.rotate(digestOf(refresh), nextFor("a"));
      assert.equal(await store.rotate(digestOf(refresh), nextFor("a", "again")), false);
      assert.equal(await foundOf(store, [...tokensFor("a"), ...nextFor("a"), ...nextFor("a", "again")]), 0);
      assert.equal(await store.rotate(digestOf("a-refresh-next"), nextFor("a", "third")), false);
      assert.equal(await foundOf(store, tokensFor("b")), 2);
    });

    test("of many uses of a refresh token at once, one counts, and the family ends", async (t) => {
      const store = await open(t);
      await begin(store, "a");
      const rotate = (n: number) => store.rotate(digestOf(first("a").refresh), nextFor("a", `${n}`));
      assert.equal(countOf(await manyOf(20, rotate)), 1);
      const all = Array.from({ length: 20 }, (_, n) => nextFor("a", `${n}`)).flat();
      assert.equal(await foundOf(store, [...tokensFor("a"), ...all]), 0);
    });

    test("a revoked family has no tokens, and gets none, also at the same moment", async (t) => {
      const store = await open(t);
      await begin(store, "b");
      await manyOf(20, async (n) => {
        const code = `c-${n}`;
        await begin(store, code);
        const { refresh } = first(code);
        await Promise.all([
          store.rotate(digestOf(refresh), nextFor(code)),
          store.revokeFamily(digestOf(code)),
          store.rotate(digestOf(`${code}-refresh-next`), nextFor(code, "third")),
        ]);
        assert.equal(await store.addTokens(tokensFor(code)), false);
        assert.equal(await foundOf(store, [...tokensFor(code), ...nextFor(code), ...nextFor(code, "third")]), 0);
      });
      assert.equal(await foundOf(store, tokensFor("b")), 2);
    });

    test("the tokens of a session end with it, except the refresh tokens of some clients", async (t) => {
      const store = await open(t);
      await begin(store, "a");
      await begin(store, "kept", { client: "notes" });
      await begin(store, "other", { sid: "s-2" });
      await store.removeOfSession("s-1", ["notes", "none"]);
      assert.equal(await foundOf(store, tokensFor("a")), 0);
      assert.equal(await foundOf(store, tokensFor("other")), 2);
      assert.equal(await foundOf(store, tokensFor("kept")), 2);
      const next = nextFor("kept", "next", { client: "notes" });
      assert.equal(await store.rotate(digestOf(first("kept").refresh), next), true);
      await store.removeOfSession("s-1", []);
      assert.equal(await foundOf(store, [...tokensFor("kept"), ...next]), 0);
    });

    test("an unused code ends with its session, and a used one brings no tokens", async (t) => {
      const store = await open(t);
      await store.addCode(codeOf("unused", { client: "notes" }));
      await store.addCode(codeOf("used"));
      await store.useCode(digestOf("used"));
      await store.removeOfSession("s-1", ["notes"]);
      assert.equal(await store.useCode(digestOf("unused")), null);
      assert.equal(await store.addTokens(tokensFor("used")), false);
    });

    test("a refresh token that is used at the moment when its session ends leaves no tokens", async (t) => {
      const store = await open(t);
      await manyOf(20, async (n) => {
        const sid = `s-${n}`;
        const code = `c-${n}`;
        await begin(store, code, { sid });
        const next = nextFor(code, "next", { sid });
        await Promise.all([store.rotate(digestOf(first(code).refresh), next), store.removeOfSession(sid, [])]);
        assert.equal(await foundOf(store, [...tokensFor(code), ...next]), 0);
      });
    });

    test("a consent is of a user and a client, and the newest one counts", async (t) => {
      const store = await open(t);
      await store.setConsent("u-1", "photos", "openid", NOW);
      await store.setConsent("u-1", "photos", "openid email", NOW + 1);
      await store.setConsent("u-1", "notes", "openid", NOW);
      assert.equal(await store.consent("u-1", "photos"), "openid email");
      assert.equal(await store.consent("u-2", "photos"), null);
      await store.removeConsent("u-1", "photos");
      assert.equal(await store.consent("u-1", "photos"), null);
      assert.equal(await store.consent("u-1", "notes"), "openid");
    });

    test("an app takes part in a session once, from its first tokens on", async (t) => {
      const store = await open(t);
      await begin(store, "a", { issuedAt: NOW + 2 });
      await begin(store, "b", { issuedAt: NOW + 3 });
      await begin(store, "c", { client: "notes", issuedAt: NOW + 1 });
      const told = { userId: "u-1", sid: "s-1", attempts: 0, dueAt: 0, error: null };
      const expected = [
        { ...told, client: "notes", since: NOW + 1 },
        { ...told, client: "photos", since: NOW + 2 },
      ];
      assert.deepEqual(await store.participations(), expected);
    });

    test("an app that could not be told is told again, until it was", async (t) => {
      const store = await open(t);
      await begin(store, "a");
      await begin(store, "b", { client: "notes" });
      const of = { client: "photos", sid: "s-1" };
      await store.settleLogout(of, { to: "again", dueAt: NOW + 5000, error: "503" }, NOW);
      const [notes, photos] = await store.participations();
      assert.deepEqual([notes?.attempts, photos?.attempts], [0, 1]);
      assert.deepEqual([photos?.dueAt, photos?.error], [NOW + 5000, "503"]);
      await store.settleLogout(of, { to: "done" }, NOW);
      assert.deepEqual(await store.participations(), [notes]);
      assert.deepEqual(await store.failedLogouts(), []);
    });

    test("an app that was told of the end of a session gets no tokens in it", async (t) => {
      const store = await open(t);
      await begin(store, "a");
      await store.settleLogout({ client: "photos", sid: "s-1" }, { to: "done" }, NOW);
      await store.addCode(codeOf("late"));
      await store.useCode(digestOf("late"));
      assert.equal(await store.addTokens(tokensFor("late")), false);
      assert.equal(await foundOf(store, tokensFor("late")), 0);
      assert.deepEqual(await store.participations(), []);
      await begin(store, "b", { sid: "s-2" });
      assert.equal((await store.participations()).length, 1);
    });

    test("apps that could not be told are listed, the newest first, until they are told again", async (t) => {
      const store = await open(t);
      for (const client of ["photos", "notes", "mail"]) await begin(store, client, { client });
      const fail = (client: string, at: number) =>
        store.settleLogout({ client, sid: "s-1" }, { to: "failed", error: `${client} ñ` }, at);
      await fail("photos", NOW + 1);
      await fail("notes", NOW + 2);
      const clientsOf = (all: readonly { client: string }[]) => all.map(({ client }) => client);
      const failed = await store.failedLogouts();
      assert.deepEqual(clientsOf(failed), ["notes", "photos"]);
      assert.deepEqual([failed[0]?.failedAt, failed[0]?.error, failed[0]?.attempts], [NOW + 2, "notes ñ", 1]);
      assert.deepEqual(clientsOf(await store.participations()), ["mail"]);
      await store.settleLogout({ client: "notes", sid: "s-1" }, { to: "done" }, NOW);
      assert.equal(await store.retryLogouts("mail"), 0);
      assert.equal(await store.retryLogouts("notes"), 1);
      assert.deepEqual(clientsOf(await store.participations()), ["mail", "notes"]);
      assert.deepEqual((await store.participations()).map(({ attempts, dueAt }) => [attempts, dueAt])[1], [0, 0]);
      assert.equal(await store.retryLogouts(null), 1);
      assert.deepEqual(await store.failedLogouts(), []);
      assert.equal((await store.participations()).length, 3);
    });

    test("what expired before a time is removed, and a code stays with the tokens of its family", async (t) => {
      const store = await open(t);
      await store.addCode(codeOf("unused"));
      await begin(store, "a");
      await store.rotate(digestOf(first("a").refresh), nextFor("a", "next", { expiresAt: NOW + 2_000_000 }));
      await begin(store, "b");
      await store.purge(NOW + 900_000);
      assert.equal(await store.useCode(digestOf("unused")), null);
      assert.equal(await foundOf(store, tokensFor("b")), 2);
      await store.purge(NOW + 900_001);
      assert.equal(await foundOf(store, tokensFor("b")), 0);
      assert.equal(await store.addTokens(tokensFor("b")), false);
      assert.equal(await foundOf(store, nextFor("a")), 2);
      assert.equal(await store.useCode(digestOf("a")), null);
      assert.equal(await foundOf(store, nextFor("a")), 0);
    });

    test("participations are removed once their end is old, and others are not", async (t) => {
      const store = await open(t);
      for (const client of ["done", "failed", "open"]) await begin(store, client, { client });
      await store.settleLogout({ client: "done", sid: "s-1" }, { to: "done" }, NOW);
      await store.settleLogout({ client: "failed", sid: "s-1" }, { to: "failed", error: "400" }, NOW);
      await store.purge(NOW);
      assert.equal((await store.failedLogouts()).length, 1);
      assert.equal(await store.purge(NOW + 1), false);
      assert.deepEqual(await store.failedLogouts(), []);
      assert.equal((await store.participations()).length, 1);
    });

    test("a purge removes so many rows at most, and says whether there may be more", async (t) => {
      const store = await open(t);
      await store.addCode(codeOf("a"));
      await store.useCode(digestOf("a"));
      const tokens = Array.from({ length: MAX_PURGED + 1 }, (_, n) => clientTokenOf(`t-${n}`, { expiresAt: NOW }));
      await store.addTokens(tokens);
      assert.equal(await store.purge(NOW + 1), true);
      assert.equal(await foundOf(store, tokens), 1);
      assert.equal(await store.purge(NOW + 1), false);
      assert.equal(await foundOf(store, tokens), 0);
    });

    test("keys are listed with every member, the oldest first, and an id is taken once", async (t) => {
      const store = await open(t);
      const keys = [
        signingKeyOf("b"),
        signingKeyOf("a", { algorithm: "ES256", createdAt: NOW + 1, privateKey: "sealed" }),
        signingKeyOf("c", { createdAt: NOW + 2 }),
      ];
      for (const key of [...keys].reverse()) await store.addSigningKey(key);
      await store.addSigningKey(signingKeyOf("b", { privateKey: "other" }));
      const stored = keys.map((key) => ({ ...key, fault: null }));
      assert.deepEqual(await store.signingKeys(), stored);
      await store.removeSigningKeys([]);
      await store.removeSigningKeys(["a", "none", "c"]);
      assert.deepEqual(await store.signingKeys(), stored.slice(0, 1));
    });
  });
}
