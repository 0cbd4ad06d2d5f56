import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { addFactor, factorName, renewRecoveryCodes, totpFactor } from "../../../src/auth/factors/manage.ts";
import { digestOfRecoveryCode, newRecoveryCodes, RECOVERY_CODES } from "../../../src/auth/factors/recovery-codes.ts";
import { createSecondFactors } from "../../../src/auth/factors/second-factors.ts";
import { factorsOf } from "../../../src/auth/factors/store.ts";
import { clockHint } from "../../../src/auth/factors/totp.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { totpCode } from "../../helpers/totp.ts";

const NOW = 1_800_000_000_000;
const STEP_MS = 30_000;
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const OTHER = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";

function open(t: TestContext) {
  const store = factorsOf(localStores(tempDatabase(t).database).factors, "");
  const clock = { now: NOW };
  return { store, clock, factors: createSecondFactors(store, () => clock.now) };
}

/** The same digits in another block of Unicode, which begins with the 0 at a code point. */
const digitsFrom = (code: string, zero: number) =>
  code.replaceAll(/[0-9]/g, (digit) => String.fromCharCode(zero + Number(digit)));

suite("second factors", () => {
  test("are needed once there is one, and not any more when the last one is removed", async (t) => {
    const { store, factors } = open(t);
    assert.equal(await factors.areNeeded(), false);
    const factor = totpFactor(SECRET, "phone", NOW);
    await addFactor(store, factor);
    assert.equal(await factors.areNeeded(), true);
    await store.remove([factor.id]);
    assert.equal(await factors.areNeeded(), false);
  });

  test("a code works once, also when it is sent many times at once", async (t) => {
    const { store, factors } = open(t);
    await store.add(totpFactor(SECRET, "phone", NOW));
    const code = totpCode(SECRET, NOW);
    const results = await Promise.all(Array.from({ length: 10 }, () => factors.useCode(code)));
    assert.deepEqual(
      results.filter((result) => result !== null),
      ["totp"],
    );
    assert.equal((await store.list())[0]?.lastUsedAt, NOW);
  });

  test("the codes of three steps work, in any order, and a used one stays used when the clock is set back", async (t) => {
    const { store, factors, clock } = open(t);
    await store.add(totpFactor(SECRET, "phone", NOW));
    for (const at of [NOW + STEP_MS, NOW, NOW - STEP_MS])
      assert.equal(await factors.useCode(totpCode(SECRET, at)), "totp");
    assert.equal(await factors.useCode(totpCode(SECRET, NOW - 2 * STEP_MS)), null);
    assert.equal(await factors.useCode(totpCode(SECRET, NOW + 2 * STEP_MS)), null);
    clock.now = NOW + 10 * 60_000;
    assert.equal(await factors.useCode(totpCode(SECRET, clock.now)), "totp");
    clock.now = NOW;
    assert.equal(await factors.useCode(totpCode(SECRET, NOW)), null);
  });

  test("a code is typed with spaces too, and any of several apps will do", async (t) => {
    const { store, factors } = open(t);
    await store.add(totpFactor(SECRET, "phone", NOW));
    await store.add(totpFactor(OTHER, "tablet", NOW));
    const code = totpCode(OTHER, NOW);
    assert.equal(await factors.useCode(` ${code.slice(0, 3)} ${code.slice(3)} `), "totp");
    assert.equal((await store.list()).find(({ name }) => name === "tablet")?.lastUsedAt, NOW);
  });

  test("nothing else is a code", async (t) => {
    const { store, factors } = open(t);
    await store.add(totpFactor(SECRET, "phone", NOW));
    const code = totpCode(SECRET, NOW);
    for (const wrong of ["", "0", code.slice(1), `${code}0`, "12345a", "一二三四五六", "\0", "-".repeat(64)])
      assert.equal(await factors.useCode(wrong), null, wrong);
  });

  // https://github.com/longbridge/gpui-kit/pull/2261, https://github.com/firebase/FirebaseUI-iOS/issues/790,
  // https://github.com/jackocnr/intl-tel-input/issues/2105, https://github.com/nhoizey/vscode-gremlins/pull/204
  for (const [what, typed] of [
    ["a full-width keyboard", (code: string) => digitsFrom(code, 0xff10)],
    ["an Arabic keyboard", (code: string) => digitsFrom(code, 0x660)],
    ["a Persian keyboard", (code: string) => digitsFrom(code, 0x6f0)],
    [
      "invisible characters around it",
      (code: string) => `\u200e\u202a${code.slice(0, 3)}\u200b${code.slice(3)}\u202c\ufeff`,
    ],
  ] as const)
    test(`a code is that of the app with ${what}`, async (t) => {
      const { store, factors } = open(t);
      await store.add(totpFactor(SECRET, "phone", NOW));
      assert.equal(await factors.useCode(typed(totpCode(SECRET, NOW))), "totp");
    });

  // https://github.com/authelia/authelia/issues/2066, https://github.com/dani-garcia/vaultwarden/issues/2065
  test("a refused code tells how far the clocks are apart, up to 20 minutes", async (t) => {
    const { store, factors } = open(t);
    await store.add(totpFactor(SECRET, "phone", NOW));
    const aheadOf = (at: number) => factors.aheadOf(totpCode(SECRET, at));
    assert.equal(await aheadOf(NOW + 20 * 60_000), 1200);
    assert.equal(await aheadOf(NOW - 90_000), -90);
    assert.equal(await aheadOf(NOW), 0);
    assert.equal(await aheadOf(NOW + 21 * 60_000), null);
    for (const text of ["", "abcd-efgh-jkmn-pqrs", "12345"]) assert.equal(await factors.aheadOf(text), null);
    assert.equal(clockHint(-90), "the clock of the app is about 1.5 min behind that of this machine");
  });

  // https://github.com/keycloak/keycloak/issues/36012
  test("an app whose form is sent twice is added once, and its first recovery codes stay", async (t) => {
    const { store, factors } = open(t);
    const [first, second] = await Promise.all([1, 2].map(() => addFactor(store, totpFactor(SECRET, "phone", NOW))));
    assert.equal((await store.list()).length, 1);
    assert.equal(second, null);
    assert.equal(await factors.useCode(first?.recoveryCodes?.[0] ?? ""), "recovery_code");
  });

  test("a removed factor has no codes", async (t) => {
    const { store, factors } = open(t);
    const factor = totpFactor(SECRET, "phone", NOW);
    await store.add(factor);
    await store.add(totpFactor(OTHER, "tablet", NOW));
    await store.remove([factor.id]);
    assert.equal(await factors.useCode(totpCode(SECRET, NOW)), null);
  });

  test("the first factor comes with recovery codes, which work once, however they are typed", async (t) => {
    const { store, factors } = open(t);
    const added = await addFactor(store, totpFactor(SECRET, "phone", NOW));
    const codes = added?.recoveryCodes ?? [];
    assert.equal(codes.length, RECOVERY_CODES);
    assert.equal((await addFactor(store, totpFactor(OTHER, "tablet", NOW)))?.recoveryCodes, null);
    const [first = "", second = "", third = ""] = codes;
    assert.equal(await factors.useCode(first), "recovery_code");
    assert.equal(await factors.useCode(first), null);
    assert.equal(await factors.useCode(second.toUpperCase().replaceAll("-", " ")), "recovery_code");
    assert.equal(await factors.useCode(third.replaceAll("-", "\u2013")), "recovery_code", "as an editor makes dashes");
    assert.equal(await store.recoveryCodesLeft(), RECOVERY_CODES - 3);
  });

  test("once all recovery codes are used up, none works, and new ones do", async (t) => {
    const { store, factors } = open(t);
    const codes = (await addFactor(store, totpFactor(SECRET, "phone", NOW)))?.recoveryCodes ?? [];
    for (const code of codes) assert.equal(await factors.useCode(code), "recovery_code");
    for (const code of codes) assert.equal(await factors.useCode(code), null);
    const [renewed = ""] = await renewRecoveryCodes(store);
    assert.equal(await factors.useCode(renewed), "recovery_code");
  });
});

suite("recovery codes", () => {
  test("have 16 characters in groups, none of which looks like another one, and are all different", () => {
    const codes = newRecoveryCodes();
    for (const code of codes) assert.match(code, /^(?:[a-hjkmnp-z2-9]{4}-){3}[a-hjkmnp-z2-9]{4}$/);
    assert.equal(new Set(codes).size, RECOVERY_CODES);
  });

  test("are looked up only if they can be one", () => {
    for (const text of [
      "",
      "abcd-efgh-jkmn-pqr",
      "abcd-efgh-jkmn-pqrs-t",
      "abcd-efgh-jkmn-pqr0",
      "éééé-éééé-éééé-éééé",
    ])
      assert.equal(digestOfRecoveryCode(text), null, text);
  });
});

test("the name of a factor is kept in one line and short", () => {
  assert.equal(factorName("  my\n\u0007phone ", "app"), "my phone");
  assert.equal(factorName(" \n ", "app"), "app");
  assert.equal(factorName("x".repeat(100), "app").length, 64);
});
