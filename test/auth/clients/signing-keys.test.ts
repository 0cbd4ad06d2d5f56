import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { exportSPKI, importJWK, SignJWT } from "jose";
import { createSigningKeys } from "../../../src/auth/clients/signing-keys.ts";
import type { SigningKeyRecord } from "../../../src/auth/clients/store.ts";

const ISSUER = "https://auth.example.com";

function createKeys() {
  const records: SigningKeyRecord[] = [];
  const store = {
    signingKeys: async () => [...records],
    addSigningKey: async (key: SigningKeyRecord) => void records.push(key),
    removeSigningKeys: async () => {},
  };
  return createSigningKeys({ store, now: Date.now });
}

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
