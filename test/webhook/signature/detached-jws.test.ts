import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { suite, test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import { textOf } from "../../../src/webhook/signature/detached-jws.ts";
import type { PublicKey } from "../../../src/webhook/signature/public-key.ts";
import { type DetachedJwsScheme, type JwtAlgorithm, usesSecret } from "../../../src/webhook/signature/schemes.ts";
import { signDelivery } from "../../../src/webhook/signature/sign.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { faultsOf, sourceIn } from "../../helpers/config-file.ts";
import { secretOf } from "../../helpers/secret.ts";

const SECRET = "a secret of the tests";
const BODY = '{"order":1}';

const pairs = {
  HS: null,
  RS: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ES384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
  ES512: generateKeyPairSync("ec", { namedCurve: "P-521" }),
};
const PUBLIC: PublicKey = {
  name: "env:KEY",
  mark: "",
  keys: [pairs.RS, pairs.ES256, pairs.ES384, pairs.ES512].map(({ publicKey: key }) => ({
    key,
    id: null,
    endsAt: null,
  })),
};
const pemOf = (key: KeyObject) => key.export({ format: "pem", type: "pkcs8" }).toString();

const schemeOf = (algorithm: JwtAlgorithm, more: Partial<DetachedJwsScheme> = {}): DetachedJwsScheme => ({
  type: "detached-jws",
  header: "x-jws",
  algorithms: [algorithm],
  ...more,
});

function signed(scheme: DetachedJwsScheme): string {
  const [algorithm] = scheme.algorithms as [JwtAlgorithm];
  const pair = algorithm.startsWith("E") ? pairs[algorithm as "ES256"] : pairs.RS;
  const secret = usesSecret(algorithm) ? SECRET : pemOf(pair.privateKey);
  const delivery = { method: "POST", origin: "https://a.example", target: "/", headers: {} };
  const { headers } = signDelivery(scheme, secret, { ...delivery, mediaType: "", body: Buffer.from(BODY) }, 0);
  return headers["x-jws"] ?? "";
}

function verdict(scheme: DetachedJwsScheme, token: string, body = BODY, secrets = [secretOf(SECRET)]): string {
  const verifier = createVerifier({ schemes: [scheme], secrets, keys: [PUBLIC] });
  const headers = { "x-jws": token };
  const content = openContent(Buffer.from(body), "application/json");
  const verified = verifier.judge({ method: "POST", origin: "https://a.example", target: "/", headers, content }, 0);
  if (typeof verified === "string") return verified;
  assert.equal(verified.covers.body, true);
  return "genuine";
}

/** A token with another header, signed with the secret. */
function withHeader(header: object, isUnencoded = true): string {
  const first = Buffer.from(JSON.stringify(header)).toString("base64url");
  const signature = createHmac("sha256", SECRET).update(textOf(first, Buffer.from(BODY), isUnencoded));
  return `${first}..${signature.digest("base64url")}`;
}

const HS256 = schemeOf("HS256");
const B64 = { alg: "HS256", b64: false, crit: ["b64"] };

suite("a token that signs the body", () => {
  for (const algorithm of ["HS256", "RS256", "PS256", "PS512", "ES256", "ES384", "ES512"] as const) {
    test(`verifies with ${algorithm}, whether the body is encoded or not`, () => {
      for (const more of [{}, { isUnencoded: true }] as const) {
        const scheme = schemeOf(algorithm, more);
        const token = signed(scheme);
        assert.equal(verdict(scheme, token), "genuine");
        assert.equal(verdict(schemeOf(algorithm), token), "genuine");
        assert.equal(verdict(scheme, token, `${BODY} `), "signature_mismatch");
      }
    });
  }

  test("has the signed text of RFC 7797, 4.1 and 4.2", () => {
    const key = Buffer.from(
      "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
      "base64url",
    );
    const mac = (text: Buffer) => createHmac("sha256", key).update(text).digest("base64url");
    const payload = Buffer.from("$.02");
    assert.equal(mac(textOf("eyJhbGciOiJIUzI1NiJ9", payload, false)), "5mvfOroL-g7HyqJoozehmsaqmvTYGEq5jTI1gVvoEoQ");
    assert.equal(
      mac(textOf("eyJhbGciOiJIUzI1NiIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19", payload, true)),
      "A5dxf2s96_n5FLueVuW1Z_vh161FwXZC4YLPff6dmDY",
    );
  });

  test("understands b64, and nothing else that must be understood", () => {
    assert.equal(verdict(HS256, withHeader(B64)), "genuine");
    for (const header of [
      { ...B64, crit: ["b64", "exp"], exp: 1 },
      { ...B64, crit: ["exp"] },
      { ...B64, crit: [] },
      { ...B64, crit: "b64" },
      { ...B64, b64: "false" },
      { alg: "HS256", b64: false },
      { alg: "HS256", crit: ["b64"] },
    ])
      assert.equal(verdict(HS256, withHeader(header)), "malformed_signature", JSON.stringify(header));
  });

  test("is refused without an algorithm, and with one that is not accepted", () => {
    assert.equal(verdict(HS256, withHeader({ ...B64, alg: "none" })), "malformed_signature");
    assert.equal(verdict(HS256, withHeader({ ...B64, alg: "HS512" })), "malformed_signature");
    // A token of RS256 is none of PS256, though the key would do for both.
    assert.equal(verdict(schemeOf("PS256"), signed(schemeOf("RS256"))), "malformed_signature");
  });

  test("does not verify with a public key that is taken for a secret", () => {
    const pem = pairs.RS.publicKey.export({ format: "pem", type: "spki" }).toString();
    const first = Buffer.from('{"alg":"HS256"}').toString("base64url");
    const mac = createHmac("sha256", pem)
      .update(textOf(first, Buffer.from(BODY), false))
      .digest("base64url");
    assert.equal(verdict(schemeOf("RS256"), `${first}..${mac}`, BODY, [secretOf(pem)]), "malformed_signature");
  });

  test("with a payload is none", () => {
    const [first, , last] = signed(HS256).split(".");
    const payload = Buffer.from(BODY).toString("base64url");
    for (const token of [`${first}.${payload}.${last}`, `${first}..${last}.`, `${first}..`, "..", `${first}..${last}=`])
      assert.equal(verdict(HS256, token), "malformed_signature", token);
  });

  test("of another use, taken apart, is refused where the body must be signed as it is", () => {
    // The token of a user: its claims, sent as a body, would have the right signature.
    assert.equal(verdict(HS256, withHeader({ alg: "HS256", typ: "JWT" }, false)), "genuine");
    const strict = schemeOf("HS256", { isUnencoded: true });
    assert.equal(verdict(strict, withHeader({ alg: "HS256", typ: "JWT" }, false)), "malformed_signature");
  });
});

suite("the description of a token that signs the body", () => {
  const described = "verify: { type: jws, detached: true, header: X-Jws, algorithms: [HS256] }";

  test("names its header, and takes secrets or keys as its algorithms need", () => {
    assert.deepEqual(sourceIn(`{ ${described}, secrets: [env:SECRET] }`).schemes, [HS256]);
    const unencoded = described.replace("true", "unencoded");
    assert.deepEqual(sourceIn(`{ ${unencoded}, secrets: [env:SECRET] }`).schemes, [
      schemeOf("HS256", { isUnencoded: true }),
    ]);
  });

  for (const [what, entry, fault] of [
    ["without a header", "verify: { type: jws, detached: true }, keys: [env:KEY]", /header is missing/],
    ["with keys for a secret", `${described}, keys: [env:KEY]`, /secrets: missing/],
    ["with both kinds", described.replace("HS256", "HS256, RS256"), /algorithms: found both kinds/],
    ["with roots", described.replace("detached", "roots: [file:a.pem], detached"), /roots: found beside detached/],
    ["with a header and no detached", "verify: { type: jws, header: x-jws }", /header: found without detached/],
  ] as const) {
    test(`${what} is an error`, () => assert.match(faultsOf(`{ ${entry} }`).join("\n"), fault));
  }
});
