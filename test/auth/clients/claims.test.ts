import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { amrOf, claimsOf, clientSid } from "../../../src/auth/clients/claims.ts";
import { clientWith } from "../../helpers/clients.ts";
import { onePerson } from "../../helpers/people.ts";

const [USER] = onePerson({ email: "ada@example.com" }).list();
assert.ok(USER);

suite("the claims of a person", () => {
  for (const [scope, expected] of [
    ["openid", { sub: "1" }],
    ["openid profile", { sub: "1", preferred_username: "ada", name: "ada" }],
    ["openid email", { sub: "1", email: "ada@example.com", email_verified: true }],
    ["openid groups", { sub: "1", groups: ["admin"] }],
    ["openid emails offline_access", { sub: "1" }],
  ] as const)
    test(`for ${scope}`, () => assert.deepEqual(claimsOf(USER, clientWith(), scope), expected));

  test("have the user name of the client", () => {
    const client = clientWith({ claims: { groups: [], username: "lovelace", inIdToken: true } });
    assert.equal(claimsOf(USER, client, "openid profile").preferred_username, "lovelace");
  });

  test("are each person's own, and those of the client only for who is not in the file", () => {
    const entry = { displayName: null, groups: ["family"], isOwner: false, passwordHash: null };
    const file = [
      { ...entry, name: "ben", email: "ben@example.com", displayName: "Bén" },
      { ...entry, name: "ada", email: "Ada@example.com", groups: [] },
    ];
    const namesWith = (entries: typeof file) => {
      const all = onePerson({ email: "ada@example.com" });
      all.set(entries, new Map([["ben", "mark"]]));
      const claims = all.list().map((person) => claimsOf(person, clientWith(), "openid profile groups"));
      return claims.map(({ sub, preferred_username, name, groups }) => [sub, preferred_username, name, groups]);
    };
    const ben = ["ben", "ben", "Bén", ["family"]];
    assert.deepEqual(namesWith(file), [["1", "ada", "ada", []], ben]);
    assert.deepEqual(namesWith(file.slice(0, 1)), [["1", "ada", "ada", ["admin"]], ben]);
  });

  test("keep their sub when the e-mail changes", () => {
    const changed = claimsOf({ ...USER, email: "grace@example.com" }, clientWith(), "openid email");
    assert.equal(changed.sub, claimsOf(USER, clientWith(), "openid").sub);
  });
});

test("each client gets a sid of its own, which says nothing of the session's", () => {
  const sid = clientSid("s1", "grafana");
  assert.match(sid, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(clientSid("s1", "grafana"), sid);
  const others = [clientSid("s1", "immich"), clientSid("s2", "grafana"), clientSid("1grafana", "s")];
  assert.equal(new Set([sid, ...others]).size, 4);
});

test("amr names how a login was proved", () => {
  assert.deepEqual((["password", "totp", "recovery_code", "passkey", null] as const).map(amrOf), [
    ["pwd"],
    ["pwd", "otp", "mfa"],
    ["pwd", "otp", "mfa"],
    ["pop", "user", "mfa"],
    undefined,
  ]);
});
