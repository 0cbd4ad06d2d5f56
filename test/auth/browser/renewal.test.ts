import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isRenewalDue, type RenewalPlace, renewedExpiry } from "../../../src/auth/browser/renewal.ts";
import { createSessionId } from "../../../src/auth/token.ts";

const LIFETIMES = { ttlSeconds: 900, sessionMaxAgeSeconds: 3600 };
const IAT = 1_000_000;
const SID = createSessionId("form");
const claims = (exp: number) => ({ sub: "1", email: "a@example.com", sid: SID, iat: IAT, exp });

const recordOf = (exp: number) => ({ sid: SID, expiresAt: exp * 1000, origin: null, device: null });

const due = (exp: number, now: number, record = recordOf(exp), place: Exclude<RenewalPlace, "app"> = "page") =>
  isRenewalDue(claims(exp), LIFETIMES, { find: async () => record }, now, place);

suite("a renewal", () => {
  test("is due when less than a third of the lifetime is left", async () => {
    assert.equal(await due(IAT + 900, IAT + 600), false);
    assert.equal(await due(IAT + 900, IAT + 601), true);
  });

  test("is not due for a session that another one has replaced", async () => {
    assert.equal(
      await due(IAT + 900, IAT + 700, { sid: "t", expiresAt: (IAT + 900) * 1000, origin: null, device: null }),
      false,
    );
  });

  test("is not due again when the browser did not keep the new cookie", async () => {
    const record = { sid: SID, expiresAt: (IAT + 700 + 900) * 1000, origin: null, device: null };
    assert.equal(await due(IAT + 900, IAT + 701, record), false);
    // A while later it is tried again: the answer may have been lost.
    assert.equal(await due(IAT + 900, IAT + 800, record), true);
  });

  test("at a login to an app gives all of the time since the login, and never takes any", () => {
    assert.equal(renewedExpiry(claims(IAT + 900), LIFETIMES, IAT + 10, "app"), IAT + 3600);
    assert.equal(renewedExpiry(claims(IAT + 9000), LIFETIMES, IAT + 10, "app"), IAT + 9000);
  });

  test("in an answer is not repeated with every request, and leaves that on the page due", async () => {
    const now = IAT + 700;
    assert.equal(await due(IAT + 900, now, recordOf(IAT + 900), "answer"), true);
    const renewed = recordOf(renewedExpiry(claims(IAT + 900), LIFETIMES, now, "answer"));
    // The browser did not get the cookie, because a proxy dropped it.
    assert.equal(await due(IAT + 900, now + 1, renewed, "answer"), false);
    assert.equal(await due(IAT + 900, now + 100, renewed, "answer"), true);
    assert.equal(await due(IAT + 900, now + 1, renewed, "page"), true);
  });

  test("is never due for a session that the API opened", async () => {
    const sid = createSessionId("api");
    const record = { sid, expiresAt: (IAT + 900) * 1000, origin: null, device: null };
    const find = async () => record;
    assert.equal(await isRenewalDue({ ...claims(IAT + 900), sid }, LIFETIMES, { find }, IAT + 700, "page"), false);
  });

  test("ends with the highest age of a session", async () => {
    assert.equal(renewedExpiry(claims(IAT + 900), LIFETIMES, IAT + 700, "page"), IAT + 1600);
    assert.equal(renewedExpiry(claims(IAT + 3000), LIFETIMES, IAT + 2900, "page"), IAT + 3600);
    assert.equal(await due(IAT + 3600, IAT + 3500), false);
  });
});
