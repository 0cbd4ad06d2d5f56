import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import { readChain } from "../../../src/webhook/signature/jws.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import type { Source } from "../../../src/webhook/source.ts";
import { dir, faultsOf, sourceIn } from "../../helpers/config-file.ts";
import { serveSource } from "../../helpers/serve-source.ts";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../../fixtures", name), "utf8");
const ROOT = fixture("chain-root.crt");
writeFileSync(join(dir, "root.pem"), ROOT);
writeFileSync(join(dir, "other.pem"), fixture("rsa.crt"));

const DESCRIBED = "verify: { type: jws, body: signedPayload, roots: [file:root.pem] }";
const APPLE = "preset: apple_app_store, keys: [file:root.pem]";
const NOTIFICATION = {
  notificationType: "DID_RENEW",
  subtype: "BILLING_RECOVERY",
  notificationUUID: "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
  data: { bundleId: "com.example.app", environment: "Production" },
};

const pemsIn = (text: string) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
const derOf = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, "");

interface Signing {
  chain?: string;
  header?: object;
  x5c?: unknown;
}

/** A token with the certificates of a chain. */
function tokenOf(claims: object, { chain = "chain.pem", header = {}, x5c }: Signing = {}): string {
  const pem = fixture(chain);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "ES256", x5c: x5c ?? pemsIn(pem).map(derOf), ...header })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), {
    key: createPrivateKey(pem),
    dsaEncoding: "ieee-p1363",
  });
  return `${signed}.${signature.toString("base64url")}`;
}

const bodyOf = (token: string, more = {}) => JSON.stringify({ signedPayload: token, ...more });

function verdict(source: Source, body: string, at = Date.now()): string {
  const verifier = createVerifier(source);
  const read = verifier.read({}, at);
  assert.ok("candidates" in read);
  const content = openContent(Buffer.from(body), "application/json");
  const request = { method: "POST", origin: "https://a.example", target: "/", headers: {}, content };
  const verified = verifier.verify(request, read.candidates);
  return typeof verified === "string" ? verified : "genuine";
}

const DAY_MS = 86_400_000;
const [leaf = "", intermediate = ""] = pemsIn(fixture("chain.pem")).map(derOf);
const root = derOf(ROOT);

suite("a token in the body", () => {
  const source = sourceIn(`{ ${DESCRIBED} }`);

  for (const [what, x5c] of [
    ["with the root", [leaf, intermediate, root]],
    ["without the root", [leaf, intermediate]],
  ] as const) {
    test(`is genuine if its certificates lead to the root, ${what}`, () => {
      assert.equal(verdict(source, bodyOf(tokenOf({ a: 1 }, { x5c }))), "genuine");
    });
  }

  for (const [what, reason, token] of [
    ["whose claims were changed", "signature_mismatch", withClaims(tokenOf({ a: 1 }), { a: 2 })],
    ["with certificates in another order", "signature_mismatch", tokenOf({}, { x5c: [intermediate, leaf, root] })],
    ["whose certificate the root did not issue", "signature_mismatch", tokenOf({}, { x5c: [leaf, root] })],
    [
      "with certificates of another root",
      "signature_mismatch",
      tokenOf({}, { x5c: [derOf(fixture("first.crt")), intermediate] }),
    ],
    ["signed with another key than that of its certificate", "signature_mismatch", tokenOf({}, { x5c: [root] })],
    ["without certificates", "malformed_signature", tokenOf({}, { x5c: [] })],
    ["with certificates that are none", "malformed_signature", tokenOf({}, { x5c: ["AAAA", 7] })],
    ["with too many certificates", "malformed_signature", tokenOf({}, { x5c: Array(6).fill(leaf) })],
    ["without an algorithm", "malformed_signature", tokenOf({}, { header: { alg: "none" } })],
    ["with a header that must be understood", "malformed_signature", tokenOf({}, { header: { crit: ["b64"] } })],
    ["that has ended", "timestamp_too_old", tokenOf({ exp: 1 })],
    ["that is none", "malformed_signature", "a.b"],
  ] as const) {
    test(`${what} is refused`, () => assert.equal(verdict(source, bodyOf(token)), reason));
  }

  test("with an object that has a length instead of a certificate takes no memory and no time for it", () => {
    let isAsked = false;
    const huge = {
      get length() {
        isAsked = true;
        return 10;
      },
    };
    assert.equal(readChain([huge]), null);
    assert.equal(isAsked, false);
    assert.equal(verdict(source, bodyOf(tokenOf({}, { x5c: [{ length: 10 }] }))), "malformed_signature");
    assert.equal(readChain([leaf, `${leaf}${" ".repeat(20_000)}`]), null);
  });

  test("is refused before and after the time of its certificates", () => {
    const body = bodyOf(tokenOf({ a: 1 }));
    assert.equal(verdict(source, body, Date.parse("2020-01-01")), "signature_mismatch");
    assert.equal(verdict(source, body, Date.now() + 200 * 365 * DAY_MS), "signature_mismatch");
  });

  test("is one event, whatever is beside it in the body", async (t) => {
    const { send, stored } = await serveSource(t, `{ ${DESCRIBED}, id: claim:data.id, type: claim:kind }`);
    const token = tokenOf({ kind: "made", data: { id: 42 } });
    for (const body of [bodyOf(token), bodyOf(token, { more: 1 })]) {
      const headers = { "Content-Type": "application/json" };
      assert.equal((await send({ method: "POST", headers, body })).status, 200);
    }
    assert.deepEqual(
      stored.map(({ eventId, type, bytesSha256 }) => [eventId, type, bytesSha256]),
      Array(2).fill(["42", "made", null]),
    );
  });

  test("must have the claims that the source names", () => {
    const claims = "verify: { type: jws, body: signedPayload, roots: [file:root.pem], claims: { data.app: [a, b] } }";
    const strict = sourceIn(`{ ${claims} }`);
    assert.equal(verdict(strict, bodyOf(tokenOf({ data: { app: "b" } }))), "genuine");
    assert.equal(verdict(strict, bodyOf(tokenOf({ data: { app: "c" } }))), "signature_mismatch");
    assert.equal(verdict(strict, bodyOf(tokenOf({}))), "signature_mismatch");
  });
});

suite("a notification of the App Store", () => {
  const headers = { "Content-Type": "application/json" };

  test("has its UUID as the id, and its type with the subtype", async (t) => {
    const { send, stored } = await serveSource(t, `{ ${APPLE}, options: { bundleId: com.example.app } }`);
    const { subtype: _, ...plain } = NOTIFICATION;
    for (const claims of [NOTIFICATION, { ...plain, notificationUUID: "2" }]) {
      assert.equal((await send({ method: "POST", headers, body: bodyOf(tokenOf(claims)) })).status, 200);
    }
    assert.deepEqual(
      stored.map(({ eventId, type }) => [eventId, type]),
      [
        [NOTIFICATION.notificationUUID, "DID_RENEW:BILLING_RECOVERY"],
        ["2", "DID_RENEW"],
      ],
    );
  });

  test("of another app is refused", () => {
    const source = sourceIn(`{ ${APPLE}, options: { bundleId: com.example.other } }`);
    assert.equal(verdict(source, bodyOf(tokenOf(NOTIFICATION))), "signature_mismatch");
    const summary = { ...NOTIFICATION, data: undefined, summary: { bundleId: "com.example.other" } };
    assert.equal(verdict(source, bodyOf(tokenOf(summary))), "genuine");
    assert.equal(verdict(source, bodyOf(tokenOf({ notificationUUID: "1" }))), "signature_mismatch");
  });

  test("with a certificate that Apple issues for something else is refused", () => {
    const source = sourceIn(`{ ${APPLE} }`);
    assert.equal(verdict(source, bodyOf(tokenOf(NOTIFICATION, { chain: "chain-plain.pem" }))), "signature_mismatch");
    assert.equal(verdict(sourceIn(`{ ${DESCRIBED} }`), bodyOf(tokenOf({}, { chain: "chain-plain.pem" }))), "genuine");
  });

  test("needs no keys in the file, and then takes Apple's root only", () => {
    const source = sourceIn("{ preset: apple_app_store }");
    assert.equal(source.keys?.length, 1);
    assert.equal(verdict(source, bodyOf(tokenOf(NOTIFICATION))), "signature_mismatch");
  });
});

suite("a token that a key of the source signed", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(
    join(dir, "jwks.json"),
    JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one" }] }),
  );
  const keys = "keys: [file:jwks.json]";

  function signed(claims: object, { kid = "one", alg = "RS256" } = {}): string {
    const text = [{ alg, kid }, claims]
      .map((value) => Buffer.from(JSON.stringify(value)).toString("base64url"))
      .join(".");
    return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
  }

  test("is the whole body, or a member of it", () => {
    const whole = sourceIn(`{ verify: { type: jws, algorithms: [RS256] }, ${keys} }`);
    assert.equal(verdict(whole, signed({ a: 1 })), "genuine");
    assert.equal(verdict(whole, bodyOf(signed({ a: 1 }))), "malformed_signature");
    const member = sourceIn(`{ verify: { type: jws, body: signedPayload, algorithms: [RS256] }, ${keys} }`);
    assert.equal(verdict(member, bodyOf(signed({ a: 1 }))), "genuine");
    assert.equal(verdict(member, bodyOf(withClaims(signed({ a: 1 }), { a: 2 }))), "signature_mismatch");
    assert.equal(verdict(member, bodyOf(signed({ a: 1 }, { kid: "two" }))), "signature_mismatch");
    assert.equal(verdict(member, bodyOf(signed({ a: 1 }, { alg: "none" }))), "malformed_signature");
    // A certificate in the header proves nothing here.
    assert.equal(verdict(member, bodyOf(tokenOf({ a: 1 }))), "malformed_signature");
  });

  const SUBJECT = "7375626A656374";
  /** As https://developers.google.com/identity/protocols/risc shows it. */
  const GOOGLE = {
    iss: "https://accounts.google.com/",
    aud: "123456789-abcedfgh.apps.googleusercontent.com",
    iat: 1508184845,
    jti: "756E69717565206964656E746966696572",
    events: {
      "https://schemas.openid.net/secevent/risc/event-type/account-disabled": {
        subject: { subject_type: "iss-sub", iss: "https://accounts.google.com/", sub: SUBJECT },
        reason: "hijacking",
      },
    },
  };
  /** As Apple sends it: the event is a text. */
  const APPLE = {
    iss: "https://appleid.apple.com",
    aud: "com.example.app",
    iat: 1735000000,
    jti: "abc123",
    events: JSON.stringify({ type: "email-disabled", sub: "001234.abcdef.0001", event_time: 1735000000000 }),
  };
  const set = (issuer: string, audiences: string) =>
    `{ preset: set, ${keys}, options: { issuer: "${issuer}", audiences: ${audiences} } }`;

  for (const [whose, claims, contentType, body, type] of [
    ["Google", GOOGLE, "application/secevent+jwt", signed(GOOGLE), Object.keys(GOOGLE.events)[0]],
    ["Apple", APPLE, "application/json", JSON.stringify({ payload: signed(APPLE) }), "email-disabled"],
  ] as const) {
    test(`of ${whose} about an account is an event with its jti and type, and gets 202 without a body`, async (t) => {
      const { send, stored } = await serveSource(t, set(claims.iss, `other.example ${claims.aud}`));
      const answer = await send({ method: "POST", headers: { "Content-Type": contentType }, body });
      assert.deepEqual([answer.status, answer.text], [202, ""]);
      assert.deepEqual(
        stored.map(({ eventId, type }) => [eventId, type]),
        [[claims.jti, type]],
      );
    });
  }

  test("about an account is refused for another receiver, and if it is one of a login", () => {
    const source = sourceIn(set(GOOGLE.iss, GOOGLE.aud));
    assert.equal(verdict(source, signed(GOOGLE)), "genuine");
    assert.equal(verdict(source, signed({ ...GOOGLE, aud: "other.example" })), "signature_mismatch");
    assert.equal(verdict(source, signed({ ...GOOGLE, iss: "https://accounts.google.com" })), "signature_mismatch");
    for (const events of [undefined, {}, [], "{", "1"])
      assert.equal(verdict(source, signed({ ...GOOGLE, events })), "malformed_signature", String(events));
  });
});

suite("the description of a token in the body", () => {
  for (const [what, entry, fault] of [
    ["without roots and keys", "verify: { type: jws, body: token }", /keys: missing/],
    ["with a secret", `${DESCRIBED}, secrets: [env:SECRET]`, /found where only keys are used/],
    [
      "with an algorithm of secrets",
      "verify: { type: jws, body: token, roots: [file:root.pem], algorithms: [HS256] }",
      /verify\.algorithms: found one with a secret/,
    ],
    [
      "with a URL",
      'verify: { type: jws, body: token, roots: ["url:https://a.example/jwks"] }',
      /roots\.0: found no cert/,
    ],
    [
      "with keys of an issuer that signs for everybody, and nothing that says whose token it must be",
      'verify: { type: jws, body: token }, keys: ["url:https://www.googleapis.com/oauth2/v3/certs"]',
      /verify\.claims: missing, expected email or sub/,
    ],
    ["with keys beside it", `${DESCRIBED}, keys: [file:root.pem]`, /keys: found beside verify.roots/],
  ] as const) {
    test(`${what} is an error`, () => assert.match(faultsOf(`{ ${entry} }`).join("\n"), fault));
  }
});

function withClaims(token: string, claims: object): string {
  const [header, , signature] = token.split(".");
  return [header, Buffer.from(JSON.stringify(claims)).toString("base64url"), signature].join(".");
}
