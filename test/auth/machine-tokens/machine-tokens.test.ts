import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { newToken } from "../../../src/auth/machine-tokens/form.ts";
import { createMachineTokens } from "../../../src/auth/machine-tokens/machine-tokens.ts";
import { createToken, endingSoon } from "../../../src/auth/machine-tokens/manage.ts";
import type { TokenStore } from "../../../src/auth/machine-tokens/store.ts";
import { peopleOf } from "../../../src/auth/people/people.ts";
import { AppError } from "../../../src/errors.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const ADDRESS = "192.0.2.7";

const PLAIN = { displayName: null, groups: [], isOwner: false, passwordHash: null };
const PASSWORD_HASH = { algorithm: "bcrypt", encoded: "", cost: 10 } as const;
/** The person of the environment, ada who is an owner, and ben. */
const FAMILY = peopleOf(
  { id: "1", email: "me@example.com", passwordHash: PASSWORD_HASH },
  [
    { ...PLAIN, name: "me", email: "me@example.com" },
    { ...PLAIN, name: "ada", email: "ada@example.com", isOwner: true },
    { ...PLAIN, name: "ben", email: "ben@example.com" },
  ],
  new Map([
    ["ada", ""],
    ["ben", ""],
  ]),
);

const NOBODY = async () => [];

async function created(store: TokenStore, name = "backup", expiresInMs: number | null = DAY_MS): Promise<string> {
  const result = await createToken({ store, people: NOBODY }, { name, scopes: ["verify"], expiresInMs }, NOW);
  assert.ok("token" in result);
  return result.token;
}

/** The check on a store of its own, whose reads are counted, and whose clock the test sets. */
function openTokens(t: Cleanup) {
  const { tokens } = localStores(tempDatabase(t).database);
  const clock = { now: NOW, reads: 0 };
  const store: TokenStore = {
    ...tokens,
    find(digest) {
      clock.reads++;
      return tokens.find(digest);
    },
  };
  return { store, clock, check: createMachineTokens(store, () => clock.now) };
}

suite("the check of a token", () => {
  test("accepts a genuine one until it expires", async (t) => {
    const { store, clock, check } = openTokens(t);
    const token = await created(store);
    assert.equal((await check.authenticate(token, ADDRESS)).name, "backup");
    clock.now = NOW + DAY_MS - 1;
    assert.equal((await check.authenticate(token, ADDRESS)).name, "backup");
    clock.now = NOW + DAY_MS;
    await failsWith("invalid_token", check.authenticate(token, ADDRESS));
  });

  test("refuses a revoked one at the next request", async (t) => {
    const { store, check } = openTokens(t);
    const token = await created(store);
    await check.authenticate(token, ADDRESS);
    await store.revoke(["backup"]);
    await failsWith("invalid_token", check.authenticate(token, ADDRESS));
  });

  test("looks up none with a typing error", async (t) => {
    const { store, clock, check } = openTokens(t);
    const token = await created(store);
    await failsWith("invalid_token", check.authenticate(`${token.slice(0, -1)}!`, ADDRESS));
    await failsWith("invalid_token", check.authenticate("ask_", ADDRESS));
    assert.equal(clock.reads, 0);
    await failsWith("invalid_token", check.authenticate(newToken(), ADDRESS));
    assert.equal(clock.reads, 1);
  });

  test("writes when and from where it was used, at most once a minute", async (t) => {
    const { store, clock, check } = openTokens(t);
    const token = await created(store);
    const used = async () => {
      const [record] = await store.list();
      return [record?.lastUsedAt, record?.lastNetwork];
    };
    await check.authenticate(token, ADDRESS);
    assert.deepEqual(await used(), [NOW, "192.0.2.0/24"]);
    clock.now += 59_999;
    await check.authenticate(token, "2001:db8:1:2::3");
    assert.deepEqual(await used(), [NOW, "192.0.2.0/24"]);
    clock.now += 1;
    await check.authenticate(token, "2001:db8:1:2::3");
    assert.deepEqual(await used(), [NOW + 60_000, "2001:db8:1::/48"]);
  });

  test("judges 50 wrong ones of an address in 5 minutes, and then no others from it", async (t) => {
    const { store, clock, check } = openTokens(t);
    for (let n = 0; n < 50; n++) await failsWith("invalid_token", check.authenticate(newToken(), ADDRESS));
    const reads = clock.reads;
    const fresh = await created(store);
    const refused = await check.authenticate(fresh, ADDRESS).catch((error: unknown) => error);
    assert.ok(refused instanceof AppError);
    assert.deepEqual([refused.code, refused.retryAfterSeconds], ["too_many_wrong_tokens", 300]);
    assert.equal(clock.reads, reads);
    assert.equal((await check.authenticate(fresh, "192.0.2.8")).name, "backup");
    clock.now += 5 * 60_000;
    await failsWith("invalid_token", check.authenticate(newToken(), ADDRESS));
  });

  test("judges no more than 50 of many that come at once", async (t) => {
    const { check } = openTokens(t);
    const codes = await Promise.all(
      Array.from({ length: 80 }, () => check.authenticate(newToken(), ADDRESS).catch(({ code }: AppError) => code)),
    );
    assert.equal(codes.filter((code) => code === "invalid_token").length, 50);
    assert.equal(codes.filter((code) => code === "too_many_wrong_tokens").length, 30);
  });

  test("lets a program go on whose neighbour sends wrong ones", async (t) => {
    const { store, check } = openTokens(t);
    const token = await created(store);
    await check.authenticate(token, ADDRESS);
    for (let n = 0; n < 60; n++) await check.authenticate("ask_wrong", ADDRESS).catch(() => {});
    assert.equal((await check.authenticate(token, ADDRESS)).name, "backup");
  });

  test("counts the addresses of an IPv6 /64 as one", async (t) => {
    const { check } = openTokens(t);
    for (let n = 0; n < 50; n++) await failsWith("invalid_token", check.authenticate("ask_x", `2001:db8::${n + 1}`));
    await failsWith("too_many_wrong_tokens", check.authenticate("ask_x", "2001:db8::ffff"));
    await failsWith("invalid_token", check.authenticate("ask_x", "2001:db8:0:1::1"));
  });
});

suite("a new token", () => {
  for (const [what, request, member] of [
    ["a name with other characters", { name: "Back up" }, "name"],
    ["a long name", { name: "a".repeat(65) }, "name"],
    ["no scope", { scopes: [] }, "scopes"],
    ["an unknown scope", { scopes: ["verify", "root"] }, "scopes"],
    ["no lifetime", { expiresInMs: 0 }, "expiresInMs"],
    ["an endless lifetime", { expiresInMs: Number.POSITIVE_INFINITY }, "expiresInMs"],
  ] as const) {
    test(`is refused with ${what}`, async (t) => {
      const { store } = openTokens(t);
      const result = await createToken(
        { store, people: NOBODY },
        { name: "a", scopes: ["verify"], expiresInMs: DAY_MS, ...request },
        NOW,
      );
      assert.equal("member" in result && result.member, member);
      assert.deepEqual(await store.list(), []);
    });
  }

  for (const [what, request, member, expected] of [
    ["of nobody", { name: "eve/phone" }, "name", /those are ada, ben$/],
    ["of the person of the environment", { name: "me/phone" }, "name", /those are ada, ben$/],
    ["without a person before the /", { name: "/phone" }, "name", /small letters/],
    ["of a person who is no owner, with a scope of owners", { name: "ben/phone", scopes: ["manage"] }, "scopes", /ben/],
    ["of a person, and of a person again", { name: "ada/ada/phone" }, "name", /small letters/],
  ] as const)
    test(`is refused if it is one ${what}`, async (t) => {
      const { store } = openTokens(t);
      const asked = { scopes: ["verify"], expiresInMs: DAY_MS, ...request };
      const result = await createToken({ store, people: async () => FAMILY }, asked, NOW);
      assert.ok("member" in result);
      assert.equal(result.member, member);
      assert.match(result.expected, expected);
    });

  test("of a person has that person's name before it, and an owner's may have all scopes", async (t) => {
    const { store } = openTokens(t);
    for (const [name, scopes] of [
      ["ben/phone", ["verify", "verify:dav.example.com"]],
      ["ada/phone", ["manage"]],
    ] as const)
      await createToken({ store, people: async () => FAMILY }, { name, scopes, expiresInMs: null }, NOW);
    assert.deepEqual(
      (await store.list()).map(({ name }) => name),
      ["ada/phone", "ben/phone"],
    );
  });

  test("is refused with a name that is taken", async (t) => {
    const { store } = openTokens(t);
    await created(store);
    const result = await createToken(
      { store, people: NOBODY },
      { name: "backup", scopes: ["verify"], expiresInMs: null },
      NOW,
    );
    assert.equal("member" in result && result.member, "name");
  });
});

test("tokens that end within a week are found, and those that never end are not", async (t) => {
  const { store } = openTokens(t);
  for (const [name, days] of [
    ["soon", 6.9],
    ["later", 7],
  ] as const)
    await created(store, name, days * DAY_MS);
  await created(store, "never", null);
  assert.deepEqual(endingSoon(await store.list(), NOW), [{ name: "soon", expiresAt: NOW + 6.9 * DAY_MS }]);
});
