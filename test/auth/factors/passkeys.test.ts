import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { suite, type TestContext, test } from "node:test";
import type { WriteAudit } from "../../../src/audit/store.ts";
import { addFactor } from "../../../src/auth/factors/manage.ts";
import { createPasskeyLogin } from "../../../src/auth/factors/passkey-login.ts";
import {
  loginOptions,
  newPasskey,
  passkeySiteOf,
  passkeysOf,
  registrationOptions,
  removedPasskeyIn,
  signalsOf,
} from "../../../src/auth/factors/passkeys.ts";
import { createSteps, STEP_MS } from "../../../src/auth/factors/steps.ts";
import { factorsOf } from "../../../src/auth/factors/store.ts";
import type { Person } from "../../../src/auth/people/people.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { Authenticator } from "../../helpers/authenticator.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { recordingLog } from "../../helpers/log.ts";
import { OTHER_HASH, onePerson } from "../../helpers/people.ts";

const NOW = 1_800_000_000_000;
const SITE = { rpId: "example.com", origin: "https://auth.example.com" };
const USER = { id: "1", email: "user@example.com" };
const FROM = { address: "192.0.2.1", requestId: "r", way: "form" as const };
const SECRETS = ["a secret of the test, 32 bytes or more"];
const PEOPLE = onePerson(USER);
const PERSON = PEOPLE.list()[0] as Person;

function open(t: TestContext) {
  const all = localStores(tempDatabase(t).database).factors;
  const store = factorsOf(all, "");
  const clock = { now: NOW };
  const now = () => clock.now;
  const { log, named } = recordingLog();
  const steps = createSteps(SECRETS, PEOPLE, store, now);
  const openSessionOf = () => async () => ({ accessToken: "token" });
  const changes: { action: string; detail: object }[] = [];
  const audit: WriteAudit = async ({ action, detail }) => changes.push({ action, detail });
  const login = createPasskeyLogin({
    people: PEOPLE,
    factorsOf: () => store,
    listAll: all.listAll,
    steps,
    site: SITE,
    openSessionOf,
    audit,
    log,
    now,
  });

  /** Registers a passkey. */
  async function register(name = "key", flags: Parameters<Authenticator["create"]>[2] = {}): Promise<Authenticator> {
    const key = new Authenticator();
    const { id } = steps.begin("new-passkey", PERSON);
    const { usable } = passkeysOf(await store.list(), SITE);
    const answer = key.create(await registrationOptions(SITE, id, USER, usable), SITE.origin, flags);
    const made = await newPasskey(answer, SITE, id, USER.id);
    assert.ok(!("fault" in made), JSON.stringify(made));
    await addFactor(store, { ...made, kind: "passkey", name, createdAt: NOW });
    return key;
  }

  /** Logs in with a passkey, which may do something wrong. */
  async function use(key: Authenticator, wrongs: Parameters<Authenticator["get"]>[2] = {}) {
    const { id } = steps.begin("passkey", PERSON);
    return login(key.get(loginOptions(SITE, id), SITE.origin, wrongs), id, FROM);
  }
  const reasons = () => named("passkey_refused").map(({ reason }) => String(reason));
  return { store, clock, steps, login, register, use, reasons, changes };
}

suite("a passkey", () => {
  test("logs in alone, and its use is written", async (t) => {
    const { store, register, use } = open(t);
    const key = await register();
    assert.deepEqual(await use(key), { accessToken: "token" });
    assert.equal((await store.list())[0]?.lastUsedAt, NOW);
    assert.deepEqual(await use(key), { accessToken: "token" }, "one without a counter is used again");
  });

  for (const [what, wrongs, reason] of [
    ["of another origin", { origin: "https://evil.example.net" }, /origin/],
    ["of another host of the domain", { origin: "https://app.example.com" }, /origin/],
    ["of another port", { origin: "https://auth.example.com:8443" }, /origin/],
    ["of another RP ID", { rpId: "evil.example.net" }, /RP ID/],
    ["that has not verified its user", { isVerified: false }, /User verification/],
    ["of another user", { userHandle: "b3RoZXI" }, /user handle/],
    ["in a frame of another site", { crossOrigin: true }, /frame/],
    ["that was made for a registration", { type: "webauthn.create" }, /type/],
    [
      "with the key of another one",
      { key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey },
      /signature/,
    ],
  ] as const)
    test(`${what} is refused`, async (t) => {
      const { register, use, reasons, store } = open(t);
      const key = await register();
      await failsWith("invalid_passkey", use(key, wrongs));
      assert.match(reasons()[0] ?? "", reason);
      assert.equal((await store.list())[0]?.lastUsedAt, null);
      await use(key);
    });

  test("answers a challenge once, also when the answer is sent many times at once", async (t) => {
    const { steps, login, register, reasons } = open(t);
    const key = await register();
    const { id } = steps.begin("passkey", PERSON);
    const answer = key.get(loginOptions(SITE, id), SITE.origin);
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => login(answer, id, FROM)));
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
    assert.deepEqual([...new Set(reasons())], ["the challenge was used before"]);
  });

  test("cannot answer the challenge of another browser, or none", async (t) => {
    const { steps, login, register } = open(t);
    const key = await register();
    const answer = key.get(loginOptions(SITE, steps.begin("passkey", PERSON).id), SITE.origin);
    await failsWith("invalid_passkey", login(answer, steps.begin("passkey", PERSON).id, FROM));
    await failsWith("invalid_passkey", login(answer, null, FROM));
  });

  test("whose counter goes back or stays is refused as a copy, and the first one still works", async (t) => {
    const { register, use, reasons } = open(t);
    const key = await register();
    key.counter = 5;
    await use(key);
    for (const counter of [5, 4, 0]) await failsWith("invalid_passkey", use(key, { counter }));
    assert.match(reasons()[0] ?? "", /counter of key has not grown/);
    await use(key, { counter: 6 });
    await use(key, { counter: 2 ** 32 - 1 });
  });

  // WebAuthn level 3, 6.1.1: other devices with the same passkey may not count.
  test("that several devices have may lose its counter and have it again, and any other fall is refused", async (t) => {
    const { register, use, reasons, changes, store } = open(t);
    const isSynced = true;
    const key = await register("key", { isSynced });
    key.counter = 5;
    await use(key, { isSynced });
    await failsWith("invalid_passkey", use(key, { isSynced, counter: 4 }));
    assert.match(reasons()[0] ?? "", /remove it and add it again$/);
    await failsWith("invalid_passkey", use(key, { counter: 0 }));
    assert.deepEqual(changes, []);
    await use(key, { isSynced, counter: 0 });
    const { id } = (await store.list())[0] ?? {};
    assert.deepEqual(changes, [{ action: "factor.counter_lost", detail: { id, name: "key", from: 5 } }]);
    await use(key, { isSynced, counter: 0 });
    await use(key, { isSynced, counter: 3 });
    assert.equal(changes.length, 1);
  });

  test("that one device has is not taken without its counter, also if it says that it is synced", async (t) => {
    const { register, use, changes } = open(t);
    const key = await register();
    key.counter = 5;
    await use(key);
    await failsWith("invalid_passkey", use(key, { isSynced: true, counter: 0 }));
    assert.deepEqual(changes, []);
  });

  test("beside another one is told apart, and a removed one is refused", async (t) => {
    const { store, register, use, reasons } = open(t);
    const [first, second] = [await register("first"), await register("second")];
    await use(second);
    const factors = await store.list();
    assert.deepEqual(factors.map(({ name, lastUsedAt }) => [name, lastUsedAt]).sort(), [
      ["first", null],
      ["second", NOW],
    ]);
    await store.remove([String(factors.find(({ name }) => name === "second")?.id)]);
    await failsWith("invalid_passkey", use(second));
    assert.match(reasons()[0] ?? "", /not known/);
    await use(first);
  });

  test("is no passkey if its answer is not even one", async (t) => {
    const { steps, login, register } = open(t);
    await register();
    const { id } = steps.begin("passkey", PERSON);
    for (const answer of ["", "null", "1", "[]", "{}", '{"id":1}', "x".repeat(10_000)])
      await failsWith("invalid_passkey", login(answer, id, FROM));
  });

  test("of a client with fifty wrong ones is not looked at for a while", async (t) => {
    const { login, register, use, clock } = open(t);
    const key = await register();
    for (let n = 0; n < 50; n++) await failsWith("invalid_passkey", login("", null, FROM));
    await failsWith("too_many_attempts", use(key));
    clock.now += 5 * 60_000;
    await use(key);
  });
});

suite("a new passkey", () => {
  for (const [what, wrongs] of [
    ["of another origin", { origin: "https://app.example.com" }],
    ["of another RP ID", { rpId: "evil.example.net" }],
    ["that has not verified its user", { isVerified: false }],
    ["that was made for a login", { type: "webauthn.get" }],
    ["in a frame of another site", { crossOrigin: true }],
    ["below a page of another site", { topOrigin: "https://app.example.net" }],
  ] as const)
    test(`${what} is refused`, async () => {
      const key = new Authenticator();
      const challenge = Buffer.alloc(32, 1).toString("base64url");
      const options = await registrationOptions(SITE, challenge, USER, []);
      const made = await newPasskey(key.create(options, SITE.origin, wrongs), SITE, challenge, USER.id);
      assert.ok("fault" in made);
    });

  // https://github.com/Yubico/java-webauthn-server/issues/407, https://github.com/web-auth/webauthn-framework/pull/908
  test("may be made while nobody is there or verified, if the browser was asked for one without a dialog", async () => {
    const challenge = Buffer.alloc(32, 1).toString("base64url");
    const options = await registrationOptions(SITE, challenge, USER, [], true);
    assert.equal(options.authenticatorSelection?.userVerification, "preferred");
    const answer = new Authenticator().create(options, SITE.origin, { isPresent: false, isVerified: false });
    assert.ok("fault" in (await newPasskey(answer, SITE, challenge, USER.id)));
    assert.ok(!("fault" in (await newPasskey(answer, SITE, challenge, USER.id, true))));
  });

  // https://github.com/kanidm/webauthn-rs/issues/580, https://github.com/brokenhandsio/swift-webauthn/issues/39
  test("has a credential id of at most 1,023 bytes", async () => {
    const challenge = Buffer.alloc(32, 1).toString("base64url");
    const options = await registrationOptions(SITE, challenge, USER, []);
    const made = (length: number) =>
      newPasskey(new Authenticator(length).create(options, SITE.origin), SITE, challenge, USER.id);
    assert.ok(!("fault" in (await made(1023))));
    assert.deepEqual(await made(1024), { fault: "its credential id is too long" });
  });

  test("asks for user verification and a key that the authenticator keeps, and names those that are there", async (t) => {
    const { store, register } = open(t);
    const key = await register();
    const options = await registrationOptions(SITE, "AAAA", USER, await store.list());
    assert.deepEqual(options.authenticatorSelection?.userVerification, "required");
    assert.deepEqual(options.authenticatorSelection?.residentKey, "required");
    assert.deepEqual(
      options.excludeCredentials?.map(({ id }) => id),
      [key.credentialId],
    );
    assert.ok(!Buffer.from(options.user.id, "base64url").includes("1@"));
    assert.equal(options.attestation, "none");
  });

  test("has an algorithm that every Node knows", async () => {
    const { pubKeyCredParams } = await registrationOptions(SITE, "AAAA", USER, []);
    assert.deepEqual(
      pubKeyCredParams.map(({ alg }) => alg),
      [-8, -7, -257],
    );
  });
});

suite("where passkeys work", () => {
  test("is the host of PUBLIC_URL, or COOKIE_DOMAIN or PASSKEY_RP_ID, and only its origin", () => {
    assert.deepEqual(passkeySiteOf("https://auth.example.com:8443/sso", {}), {
      rpId: "auth.example.com",
      origin: "https://auth.example.com:8443",
    });
    assert.deepEqual(passkeySiteOf("https://auth.example.com", { COOKIE_DOMAIN: "example.com" }), SITE);
    assert.deepEqual(
      passkeySiteOf("https://auth.example.com", { COOKIE_DOMAIN: "example.com", PASSKEY_RP_ID: "old.example.net" }),
      { ...SITE, rpId: "old.example.net" },
    );
    assert.equal(passkeySiteOf("https://auth.example.com:443", {})?.origin, "https://auth.example.com");
    assert.equal(passkeySiteOf("http://localhost:3000", {})?.rpId, "localhost");
  });

  test("is nowhere without TLS or a name", () => {
    for (const url of [
      "http://127.0.0.1:3000",
      "https://192.0.2.1",
      "https://[2001:db8::1]",
      "http://auth.example.com",
    ])
      assert.equal(passkeySiteOf(url, {}), null, url);
  });

  test("is not where the RP ID has changed", async (t) => {
    const { store, register } = open(t);
    await register();
    const factors = await store.list();
    assert.equal(passkeysOf(factors, SITE).usable.length, 1);
    for (const site of [null, { ...SITE, rpId: "auth.example.com" }]) {
      const { usable, unusable } = passkeysOf(factors, site);
      assert.deepEqual([usable.length, unusable.length], [0, 1]);
    }
  });
});

suite("what the password manager is told", () => {
  const MOVED = { ...SITE, origin: "https://login.example.net" };

  test("are the passkeys that can be used, for each user handle that they have, and an empty list for none", async (t) => {
    const { store, register } = open(t);
    const [none] = signalsOf([], SITE, USER).users;
    assert.deepEqual(none?.credentialIds, []);
    const { credentialId } = await register();
    const factors = await store.list();
    const users = [{ userId: none?.userId, credentialIds: [credentialId] }];
    assert.deepEqual(signalsOf(factors, SITE, USER), { rpId: "example.com", name: USER.email, users });
    const [atNewAddress, others] = signalsOf(factors, MOVED, USER).users;
    assert.notEqual(atNewAddress?.userId, none?.userId);
    assert.deepEqual([atNewAddress?.credentialIds, others], [[], users[0]]);
    const elsewhere = signalsOf(factors, { ...SITE, rpId: "example.net" }, USER);
    assert.deepEqual(elsewhere.users, [none], "none with another RP ID");
  });

  // https://github.com/dotnet/aspnetcore/issues/68511
  test("is that a passkey was removed only if it was one of this user here, and is not known", async (t) => {
    const { store, register } = open(t);
    const [key, other] = [await register("one"), await register("two")];
    const answer = (wrongs = {}) => key.get(loginOptions(SITE, "AAAA"), SITE.origin, wrongs);
    const told = async (text: string) => removedPasskeyIn(text, signalsOf(await store.list(), SITE, USER));
    assert.equal(await told(answer()), null, "it is known");
    const removed = (await store.list()).find(({ name }) => name === "one");
    await store.remove([String(removed?.id)]);
    assert.equal(await told(answer()), key.credentialId);
    assert.equal(await told(answer({ userHandle: "b3RoZXI" })), null, "that of another server");
    for (const text of ["", "null", "{}", '{"id":1,"response":null}', answer().replaceAll(key.credentialId, "<&>")])
      assert.equal(await told(text), null, text);
    assert.equal(await told(other.get(loginOptions(SITE, "AAAA"), SITE.origin)), null);
  });
});

suite("a step that a browser has begun", () => {
  test("can be finished for five minutes, once, and only as what it is", async (t) => {
    const { steps, clock } = open(t);
    const { id, value } = steps.begin("code", PERSON);
    assert.deepEqual(steps.read("code", ["", "junk", value]), { id, person: PERSON });
    assert.equal(steps.read("passkey", [value]), null);
    clock.now += STEP_MS - 1;
    assert.equal(steps.read("code", [value])?.id, id);
    assert.deepEqual(await Promise.all([steps.finish(id), steps.finish(id)]), [true, false]);
    clock.now += 1;
    assert.equal(steps.read("code", [value]), null);
  });

  test("ends with another password, e-mail or secret, and outlives a secret that was replaced", async (t) => {
    const { store } = localStoresOf(t);
    const value = createSteps(SECRETS, PEOPLE, store, () => NOW).begin("code", PERSON).value;
    const read = ({ secrets = SECRETS, ...changes }: { secrets?: string[]; email?: string; passwordHash?: string }) =>
      createSteps(secrets, onePerson({ ...USER, ...changes }), store, () => NOW).read("code", [value]);
    assert.ok(read({ secrets: ["a new one", ...SECRETS] }));
    for (const changes of [{ passwordHash: OTHER_HASH }, { email: "other@example.com" }, { secrets: ["other"] }])
      assert.equal(read(changes), null);
  });
});

const localStoresOf = (t: TestContext) => ({
  store: factorsOf(localStores(tempDatabase(t).database).factors, ""),
});
