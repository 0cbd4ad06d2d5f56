import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { suite, test } from "node:test";
import { SignJWT } from "jose";
import { type AccessClaims, createSignToken, verifyToken } from "../../src/auth/token.ts";

const SECRET = "3kX9vQ2mZ7pL4tR8wY1cB6nH5jD0sF-gA";
const PREVIOUS = "Zq8Wm3Xe7Rt1Yu5Io9Pa2Sd6Fg4Hj0Kl-";
const NOW = 1_800_000_000;
const HEADER = '{"alg":"HS256","typ":"JWT"}';
const CLAIMS: Required<AccessClaims> = { sub: "1", email: "demo@example.com", sid: "s-1", iat: NOW, exp: NOW + 900 };
const PAYLOAD = JSON.stringify(CLAIMS);

const base64url = (data: string | Uint8Array) => Buffer.from(data).toString("base64url");
const verify = (token: string, secrets: string[] = [SECRET]) => verifyToken(token, secrets, NOW);

function mac(signed: string, secret = SECRET, hash = "sha256"): string {
  return createHmac(hash, secret).update(signed).digest("base64url");
}

/** A token of these exact texts with a valid HS256 signature. */
function signedToken(header: string, payload: string | Uint8Array = PAYLOAD): string {
  const signed = `${base64url(header)}.${base64url(payload)}`;
  return `${signed}.${mac(signed)}`;
}

suite("a token", () => {
  test("verifies and returns its claims", async () => {
    const token = await createSignToken(SECRET)(CLAIMS);
    assert.deepEqual(verify(token), CLAIMS);
    const [header = "", payload = ""] = token.split(".");
    assert.equal(Buffer.from(header, "base64url").toString(), HEADER);
    assert.deepEqual(JSON.parse(Buffer.from(payload, "base64url").toString()), CLAIMS);
  });

  test("of the previous secret verifies only while that secret is configured", async () => {
    const token = await createSignToken(PREVIOUS)(CLAIMS);
    assert.deepEqual(verify(token, [SECRET, PREVIOUS]), CLAIMS);
    assert.equal(verify(token, [SECRET]), null);
  });

  test("expires at exp, without leeway", async () => {
    const token = await createSignToken(SECRET)(CLAIMS);
    assert.notEqual(verifyToken(token, [SECRET], NOW + 899), null);
    assert.equal(verifyToken(token, [SECRET], NOW + 900), null);
  });

  test("of another program with the secret may omit iat, but no other claim", () => {
    const { iat: _, ...without } = CLAIMS;
    assert.deepEqual(verify(signedToken(HEADER, JSON.stringify(without))), without);
    const { exp: __, ...fewer } = without;
    assert.equal(verify(signedToken(HEADER, JSON.stringify(fewer))), null);
  });

  test("issued in the future is refused", async () => {
    const token = await createSignToken(SECRET)(CLAIMS);
    assert.equal(verifyToken(token, [SECRET], NOW - 1), null);
  });
});

suite("a token's algorithm", () => {
  for (const alg of ["none", "None", "nOnE", "NONE", ""]) {
    test(`cannot be ${JSON.stringify(alg)}, signed or not`, () => {
      const header = JSON.stringify({ alg, typ: "JWT" });
      assert.equal(verify(`${base64url(header)}.${base64url(PAYLOAD)}.`), null);
      assert.equal(verify(signedToken(header)), null);
    });
  }

  for (const alg of ["RS256", "ES256", "PS256", "EdDSA", "HS384", "HS512", "hs256", "HS256 "]) {
    test(`cannot be ${JSON.stringify(alg)} over an HS256 signature`, () => {
      assert.equal(verify(signedToken(JSON.stringify({ alg, typ: "JWT" }))), null);
    });
  }

  for (const [alg, hash] of [
    ["HS384", "sha384"],
    ["HS512", "sha512"],
  ] as const) {
    test(`cannot be a genuine ${alg}`, () => {
      const signed = `${base64url(JSON.stringify({ alg, typ: "JWT" }))}.${base64url(PAYLOAD)}`;
      assert.equal(verify(`${signed}.${mac(signed, SECRET, hash)}`), null);
    });
  }

  test("cannot be ES256 with a zero signature, nor a genuine one", async () => {
    const signed = `${base64url('{"alg":"ES256","typ":"JWT"}')}.${base64url(PAYLOAD)}`;
    assert.equal(verify(`${signed}.${base64url(new Uint8Array(64))}`), null);
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const token = await new SignJWT({ ...CLAIMS }).setProtectedHeader({ alg: "ES256", typ: "JWT" }).sign(privateKey);
    assert.equal(verify(token), null);
  });

  test("signed with an empty key or another secret is refused", () => {
    const signed = `${base64url(HEADER)}.${base64url(PAYLOAD)}`;
    for (const secret of ["", "secret", PREVIOUS, `${SECRET} `, SECRET.toLowerCase()]) {
      assert.equal(verify(`${signed}.${mac(signed, secret)}`), null);
    }
  });
});

suite("a genuinely signed header is refused", () => {
  for (const header of [
    `{"alg":"HS256","typ":"JWT","kid":"' OR 1=1--"}`,
    '{"alg":"HS256","typ":"JWT","kid":"../../../../dev/null"}',
    '{"alg":"HS256","typ":"JWT","kid":{}}',
    '{"alg":"HS256","typ":"JWT","jku":"http://127.0.0.1:9/"}',
    '{"alg":"HS256","typ":"JWT","jwk":{"kty":"oct","k":""}}',
    '{"alg":"HS256","typ":"JWT","x5c":[]}',
    '{"alg":"HS256","typ":"JWT","crit":["x"]}',
    '{"alg":"HS256","typ":"JWT","crit":[]}',
    '{"alg":"HS256","typ":"JWT","crit":["b64"],"b64":true}',
    '{"alg":"HS256","typ":"JWT","b64":false}',
    '{"alg":"HS256","typ":"JWT","zip":"DEF"}',
    '{"alg":"HS256","alg":"HS256","typ":"JWT"}',
    '{"alg":"none","typ":"JWT","\\u0061lg":"HS256"}',
    '{"alg":"HS256","typ":"at+jwt"}',
    '{"alg":"HS256","typ":"jwt"}',
    '{"alg":"HS256"}',
    '{"alg":["HS256"],"typ":"JWT"}',
    '{"alg":"HS256","typ":"JWT","__proto__":{}}',
    "{}",
    "[]",
    "null",
    '"HS256"',
    "",
    '{"alg":"HS256","typ":"JWT"',
    `\ufeff${HEADER}`,
  ]) {
    test(header === "" ? "(empty)" : header, () => assert.equal(verify(signedToken(header)), null));
  }
});
