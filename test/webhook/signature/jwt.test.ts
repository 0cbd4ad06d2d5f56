import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, hash, sign } from "node:crypto";
import { suite, test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import { queryTextsOf } from "../../../src/webhook/providers/atlassian_connect.ts";
import type { SignatureSettings } from "../../../src/webhook/signature/bound-scheme.ts";
import type { PublicKey } from "../../../src/webhook/signature/public-key.ts";
import type { JwtScheme, RequestLine } from "../../../src/webhook/signature/schemes.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { secretOf } from "../../helpers/secret.ts";

const NOW = 1_800_000_000;
const SECRET = "a secret of the tests";
const BODY = '{"order":1}';
const URL_OF_RECEIVER = "https://hooks.example.com/webhook/sender?tenant=7";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const keyOf = (key: PublicKey["keys"][number]["key"], id: string | null = null): PublicKey => ({
  name: "env:KEY",
  mark: "",
  keys: [{ key, id, endsAt: null }],
});

const SCHEME: JwtScheme = { type: "jwt", header: "authorization", label: "Bearer ", algorithms: ["HS256", "HS512"] };
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenOf(claims: object, header: object = {}, digest = "sha256", secret = SECRET): string {
  const signed = `${part({ alg: "HS256", typ: "JWT", ...header })}.${part(claims)}`;
  return `${signed}.${createHmac(digest, secret).update(signed).digest("base64url")}`;
}

function tokenOfKey(claims: object, header: object): string {
  const signed = `${part({ alg: "ES256", ...header })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: ec.privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

/** Verifies a delivery with a token. */
function verdict(
  token: string,
  scheme: Partial<JwtScheme> = {},
  by: Partial<SignatureSettings> = {},
  body = BODY,
): string {
  const verifier = createVerifier({ schemes: [{ ...SCHEME, ...scheme }], secrets: [secretOf(SECRET)], ...by });
  const headers = { authorization: `bearer ${token}` };
  const read = verifier.read(headers, NOW * 1000);
  if ("reason" in read) return read.reason;
  const { origin, pathname, search } = new URL(URL_OF_RECEIVER);
  const content = openContent(Buffer.from(body), "application/json");
  const verified = verifier.verify(
    { method: "POST", origin, target: pathname + search, headers, content },
    read.candidates,
  );
  return typeof verified === "string" ? verified : "genuine";
}

suite("a signed token", () => {
  test("verifies with a secret, in each accepted algorithm", () => {
    assert.equal(verdict(tokenOf({})), "genuine");
    assert.equal(verdict(tokenOf({}, { alg: "HS512" }, "sha512")), "genuine");
    assert.equal(verdict(tokenOf({}, {}, "sha256", "another secret")), "signature_mismatch");
  });

  for (const [what, token] of [
    ["without an algorithm", tokenOf({}, { alg: "none" })],
    ["with an algorithm that is not accepted", tokenOf({}, { alg: "HS384" }, "sha384")],
    ["with a header that must be understood", tokenOf({}, { crit: ["exp"] })],
    ["that is no token", "abc"],
    ["that is not canonical", `${tokenOf({})}=`],
    ["with a time that is no number", tokenOf({ exp: "never" })],
  ] as const) {
    test(`is malformed ${what}`, () => assert.equal(verdict(token), "malformed_signature"));
  }

  test("does not verify with a public key that is taken for a secret", () => {
    const pem = rsa.publicKey.export({ format: "pem", type: "spki" }).toString();
    const scheme = { algorithms: ["RS256"] } as const;
    const by = { secrets: [secretOf(pem)], keys: [keyOf(rsa.publicKey)] };
    assert.equal(verdict(tokenOf({}, {}, "sha256", pem), scheme, by), "malformed_signature");
    assert.equal(verdict(tokenOf({}, { alg: "RS256" }, "sha256", pem), scheme, by), "signature_mismatch");
  });

  test("verifies with the key that it names", () => {
    const scheme = { algorithms: ["ES256"] } as const;
    const token = tokenOfKey({}, { kid: "one" });
    assert.equal(verdict(token, scheme, { keys: [keyOf(ec.publicKey, "one")] }), "genuine");
    assert.equal(verdict(token, scheme, { keys: [keyOf(ec.publicKey)] }), "genuine");
    assert.equal(verdict(token, scheme, { keys: [keyOf(ec.publicKey, "two")] }), "signature_mismatch");
    assert.equal(verdict(token, scheme, { keys: [keyOf(rsa.publicKey)] }), "signature_mismatch");
  });

  test("is good for its time only", () => {
    assert.equal(verdict(tokenOf({ exp: NOW + 1, nbf: NOW, iat: NOW })), "genuine");
    assert.equal(verdict(tokenOf({ exp: NOW - 6 })), "timestamp_too_old");
    assert.equal(verdict(tokenOf({ nbf: NOW + 6 })), "timestamp_in_future");
    assert.equal(verdict(tokenOf({ iat: NOW + 6 })), "timestamp_in_future");
    assert.equal(verdict(tokenOf({ iat: NOW - 300 }), { maxAgeSeconds: 300 }), "genuine");
    assert.equal(verdict(tokenOf({ iat: NOW - 301 }), { maxAgeSeconds: 300 }), "timestamp_too_old");
    assert.equal(verdict(tokenOf({}), { maxAgeSeconds: 300 }), "timestamp_missing");
  });

  test("names its issuer and its audience", () => {
    assert.equal(verdict(tokenOf({ iss: "sender" }), { issuer: "sender" }), "genuine");
    assert.equal(verdict(tokenOf({ iss: "other" }), { issuer: "sender" }), "signature_mismatch");
    assert.equal(verdict(tokenOf({ aud: ["other", "me"] }), { audience: { text: "me" } }), "genuine");
    assert.equal(verdict(tokenOf({}), { audience: { text: "me" } }), "signature_mismatch");
    assert.equal(verdict(tokenOf({ aud: URL_OF_RECEIVER }), { audience: "url" }), "genuine");
    const atProxy = { aud: "https://public.example/webhook/sender?tenant=7" };
    assert.equal(verdict(tokenOf(atProxy), { audience: "url" }), "signature_mismatch");
    assert.equal(verdict(tokenOf(atProxy), { audience: "url" }, { publicOrigin: "https://public.example" }), "genuine");
  });

  test("has the claims that are required, as a text or in a list", () => {
    const claims = { email: ["push@example.com", "other@example.com"], email_verified: ["true"] };
    const genuine = { email: "push@example.com", email_verified: true };
    assert.equal(verdict(tokenOf(genuine), { claims }), "genuine");
    assert.equal(
      verdict(tokenOf({ ...genuine, email: ["x@example.com", "other@example.com"] }), { claims }),
      "genuine",
    );
    for (const wrong of [
      {},
      { email: "push@example.com" },
      { ...genuine, email: "evil@example.com" },
      { ...genuine, email: { "push@example.com": true } },
      { ...genuine, email_verified: "yes" },
    ])
      assert.equal(verdict(tokenOf(wrong), { claims }), "signature_mismatch", JSON.stringify(wrong));
  });

  test("does not have an email that is not verified", () => {
    const claims = { email: ["push@example.com"] };
    assert.equal(verdict(tokenOf({ email: "push@example.com" }), { claims }), "genuine");
    for (const email_verified of [false, "false"])
      assert.equal(verdict(tokenOf({ email: "push@example.com", email_verified }), { claims }), "signature_mismatch");
  });

  test("has claims that are options of the source, or the address", () => {
    const claims = { email: ["{option:email}"], aud: ["{option:audience}"] };
    const token = tokenOf({ email: "push@example.com", aud: URL_OF_RECEIVER });
    const withOptions = (options: Record<string, string>) => verdict(token, { claims }, { options });
    assert.equal(withOptions({ email: "push@example.com", audience: "{url}" }), "genuine");
    assert.equal(withOptions({ email: "push@example.com", audience: URL_OF_RECEIVER }), "genuine");
    assert.equal(withOptions({ email: "push@example.com", audience: "https://example.com/" }), "signature_mismatch");
    assert.equal(withOptions({ audience: "{url}" }), "signature_mismatch");
  });

  test("covers the body and the address by their digests", () => {
    const covered = {
      bodyClaim: "payload_hash",
      requestClaims: { url_hash: ({ origin, target }: RequestLine) => [hash("sha256", origin + target)] },
    };
    const claims = { payload_hash: hash("sha256", BODY), url_hash: hash("sha256", URL_OF_RECEIVER) };
    assert.equal(verdict(tokenOf(claims), covered), "genuine");
    const inBase64 = { ...claims, payload_hash: hash("sha256", BODY, "base64") };
    assert.equal(verdict(tokenOf(inBase64), covered), "genuine");
    assert.equal(verdict(tokenOf(claims), covered, {}, '{"order":2}'), "signature_mismatch");
    assert.equal(
      verdict(tokenOf({ ...claims, url_hash: hash("sha256", "https://other.example/") }), covered),
      "signature_mismatch",
    );
    const { url_hash } = claims;
    assert.equal(verdict(tokenOf({ url_hash }), { ...covered, isBodyOptional: true }), "signature_mismatch");
    assert.equal(verdict(tokenOf({ url_hash }), { ...covered, isBodyOptional: true }, {}, ""), "genuine");
    assert.equal(verdict(tokenOf({ url_hash }), covered, {}, ""), "signature_mismatch");
  });
});

test("the query that a token of Atlassian covers is sorted and encoded, below any base URL", () => {
  const texts = queryTextsOf({ method: "post", target: "/ctx/a/?z=1&b=x%20y&b=w&jwt=abc" });
  assert.deepEqual(texts, ["POST&/ctx/a&b=w,x%20y&z=1", "POST&/a&b=w,x%20y&z=1", "POST&/&b=w,x%20y&z=1"]);
  assert.equal(queryTextsOf({ method: "GET", target: "/" })[0], "GET&/&");
  assert.equal(queryTextsOf({ method: "GET", target: "/x?u=a?b" })[0], "GET&/x&u=a%3Fb");
});
