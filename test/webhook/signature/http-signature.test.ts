import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, hash } from "node:crypto";
import { suite, test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import type { SignatureSettings } from "../../../src/webhook/signature/bound-scheme.ts";
import { draftBase } from "../../../src/webhook/signature/http-signature.ts";
import { readDigests, readDraftSignature } from "../../../src/webhook/signature/http-signature-fields.ts";
import { type PublicKey, readPublicKeys } from "../../../src/webhook/signature/public-key.ts";
import type { HttpSignatureScheme, JwtAlgorithm } from "../../../src/webhook/signature/schemes.ts";
import { signDelivery } from "../../../src/webhook/signature/sign.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { faultsOf, sourceIn } from "../../helpers/config-file.ts";
import { secretOf } from "../../helpers/secret.ts";

const SECRET = "a secret of the tests";

interface Sent {
  method?: string;
  target?: string;
  headers: Record<string, string>;
  body: string;
}

const schemeOf = (algorithm: JwtAlgorithm, more: Partial<HttpSignatureScheme> = {}): HttpSignatureScheme => ({
  type: "httpsig",
  algorithms: [algorithm],
  key: "utf8",
  ...more,
});

const requestOf = ({ method = "POST", target = "/foo?param=Value&Pet=dog", headers, body }: Sent) => ({
  method,
  origin: "https://example.com",
  target,
  headers,
  content: openContent(Buffer.from(body), "application/json"),
});

function verdict(scheme: HttpSignatureScheme, sent: Sent, at: number, by: Partial<SignatureSettings> = {}): string {
  const verifier = createVerifier({ schemes: [scheme], secrets: [secretOf(SECRET)], ...by });
  const verified = verifier.judge(requestOf(sent), at * 1000);
  return typeof verified === "string" ? verified : `genuine${verified.covers.body ? "" : ", without the body"}`;
}

const keyOf = (jwk: object, id: string | null = null): PublicKey => ({
  name: "env:KEY",
  mark: "",
  keys: (readPublicKeys(JSON.stringify(jwk)) ?? []).map((key) => ({ ...key, id })),
});

suite("the examples of RFC 9421, appendix B", () => {
  const CREATED = 1618884473;
  const REQUEST = {
    date: "Tue, 20 Apr 2021 02:07:55 GMT",
    "content-type": "application/json",
    "content-digest":
      "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
    "content-length": "18",
  };
  const BODY = '{"hello": "world"}';
  const RSA = {
    kty: "RSA",
    e: "AQAB",
    n: "r4tmm3r20Wd_PbqvP1s2-QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct-Lh1GH45x28Rw3Ry53mm-oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHqgDsznjPFmTOtCEcN2Z1FpWgchwuYLPL-Wokqltd11nqqzi-bJ9cvSKADYdUAAN5WUtzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4aOT9v6d-nb4bnNkQVklLQ3fVAvJm-xdDOp9LCNCN48V2pnDOkFV6-U9nV5oyc6XI2w",
  };
  const ED25519 = { kty: "OKP", crv: "Ed25519", x: "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs" };
  const SHARED = "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==";

  for (const [what, input, signature, scheme, by, expected] of [
    [
      "B.2.1, which covers nothing",
      'sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"',
      "sig-b21=:d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==:",
      schemeOf("PS512"),
      { keys: [keyOf(RSA)] },
      "genuine, without the body",
    ],
    [
      "B.2.3, which covers the body by its digest",
      'sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
      "sig-b23=:bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==:",
      schemeOf("PS512"),
      { keys: [keyOf(RSA, "test-key-rsa-pss")] },
      "genuine",
    ],
    [
      "B.2.5, with a secret",
      'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
      "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:",
      schemeOf("HS256", { key: "base64" }),
      { secrets: [secretOf(SHARED)] },
      "genuine, without the body",
    ],
    [
      "B.2.6, with Ed25519",
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
      "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:",
      schemeOf("EdDSA"),
      { keys: [keyOf(ED25519)] },
      "genuine, without the body",
    ],
  ] as const) {
    test(what, () => {
      const sent = { headers: { ...REQUEST, "signature-input": input, signature }, body: BODY };
      const lenient = { ...scheme, isBodyOptional: true } as const;
      assert.equal(verdict(lenient, sent, CREATED, by), expected);
      assert.equal(verdict(scheme, sent, CREATED, by), expected === "genuine" ? "genuine" : "signature_mismatch");
      assert.equal(verdict(lenient, sent, CREATED + 301, by), "timestamp_too_old");
      assert.equal(verdict(lenient, sent, CREATED - 301, by), "timestamp_in_future");
      const other = {
        ...sent,
        headers: { ...sent.headers, "signature-input": input.replace("=1618884473", "=1618884474") },
      };
      assert.equal(verdict(lenient, other, CREATED, by), "signature_mismatch");
    });
  }
});

const NOW = 1_800_000_000;
const BODY = '{"order":1}';

function signed(scheme: HttpSignatureScheme, secret = SECRET): Sent {
  const { method, origin, target } = requestOf({ headers: {}, body: BODY });
  const delivery = { method, origin, target, headers: {}, mediaType: "application/json", body: Buffer.from(BODY) };
  return { headers: signDelivery(scheme, secret, delivery, NOW * 1000).headers, body: BODY };
}

suite("a signature of parts of the request", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pairs = {
    RS256: rsa,
    PS512: rsa,
    ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
    ES384: generateKeyPairSync("ec", { namedCurve: "P-384" }),
    EdDSA: generateKeyPairSync("ed25519"),
  };

  for (const more of [{}, { draft: "signature" }, { draft: "authorization" }] as const) {
    for (const algorithm of ["RS256", "PS512", "ES256", "ES384", "EdDSA"] as const) {
      test(`verifies with ${algorithm} in ${"draft" in more ? `${more.draft} of the draft` : "the form of RFC 9421"}`, () => {
        const { privateKey, publicKey } = pairs[algorithm] as typeof rsa;
        const scheme = schemeOf(algorithm, more);
        const sent = signed(scheme, privateKey.export({ format: "pem", type: "pkcs8" }).toString());
        const by = { secrets: [], keys: [keyOf(publicKey.export({ format: "jwk" }))] };
        assert.equal(verdict(scheme, sent, NOW, by), "genuine");
        assert.equal(verdict(scheme, { ...sent, body: "{}" }, NOW, by), "signature_mismatch");
        assert.equal(verdict(scheme, { ...sent, target: "/foo" }, NOW, by), "signature_mismatch");
        assert.equal(verdict(scheme, { ...sent, method: "PUT" }, NOW, by), "signature_mismatch");
        const confused = { secrets: [secretOf(publicKey.export({ format: "pem", type: "spki" }).toString())] };
        assert.equal(verdict(schemeOf("HS256", more), sent, NOW, confused), "signature_mismatch");
      });
    }
  }

  test("has a digest of the body that is right in each algorithm", () => {
    const scheme = schemeOf("HS256");
    const digest = `sha-256=:${hash("sha256", BODY, "base64")}:`;
    const wrong = `sha-512=:${hash("sha512", "{}", "base64")}:`;
    const sentWith = (value: string, covered = '"content-digest"') => {
      const parameters = `(${covered});created=${NOW}`;
      const base = covered === "" ? "" : `"content-digest": ${value}\n`;
      const mac = createHmac("sha256", SECRET).update(`${base}"@signature-params": ${parameters}`).digest("base64");
      const headers = { "content-digest": value, "signature-input": `s=${parameters}`, signature: `s=:${mac}:` };
      return verdict(scheme, { headers, body: BODY }, NOW);
    };
    assert.equal(sentWith(digest), "genuine");
    assert.equal(sentWith(`${digest}, md5=:AAAA:`), "genuine");
    assert.equal(sentWith(`${digest}, ${wrong}`), "signature_mismatch");
    assert.equal(sentWith("md5=:AAAA:"), "signature_mismatch");
    assert.equal(sentWith("sha-256=none"), "signature_mismatch");
    // It is right, but anybody may change it with the body.
    assert.equal(sentWith(digest, ""), "signature_mismatch");
  });

  for (const [what, input, signature] of [
    ["with a component twice", 's=("date" "date");created=1', "s=:AAAA:"],
    ["with a component that is read in another way", 's=("date";sf);created=1', "s=:AAAA:"],
    ["with an end that is a text", `s=();created=${NOW};expires="${NOW - 1}"`, "s=:AAAA:"],
    ["with a parameter twice", "s=();created=1;created=2", "s=:AAAA:"],
    ["with a name twice", "s=();created=1, s=();created=1", "s=:AAAA:"],
    ["that is not closed", 's=("date"', "s=:AAAA:"],
    ["with more behind it", "s=();created=1 x", "s=:AAAA:"],
    ["in no bytes", "s=();created=1", "s=AAAA"],
    ["under another name", "s=();created=1", "t=:AAAA:"],
    ["that ends with a comma", "s=();created=1,", "s=:AAAA:"],
    ["without a list", "s=1", "s=:AAAA:"],
  ] as const) {
    test(`${what} is malformed`, () => {
      const headers = { "signature-input": input, signature };
      assert.equal(verdict(schemeOf("HS256"), { headers, body: "" }, NOW), "malformed_signature");
    });
  }

  test("is right beside others that cannot be verified", () => {
    const { headers, body } = signed(schemeOf("HS256"));
    const proxy = 'proxy=("signature";key="sig1" "forwarded");created=1;keyid="p"';
    const among = {
      "signature-input": `${proxy}, ${headers["signature-input"]}`,
      signature: `proxy=:AAAA:, ${headers.signature}`,
    };
    assert.equal(verdict(schemeOf("HS256"), { headers: { ...headers, ...among }, body }, NOW), "genuine");
  });

  for (const parameter of [";x", ";x=?1", ";x=token", ";x=1.5", ";x=:AA==:", ';nonce="a\\"b"', ";x=-1"])
    test(`may have the parameter ${parameter}`, () => {
      const parameters = `("@method" "@target-uri");created=${NOW}${parameter}`;
      const base = `"@method": GET\n"@target-uri": https://example.com/foo?a=1\n"@signature-params": ${parameters}`;
      const mac = createHmac("sha256", SECRET).update(base).digest("base64");
      const headers = { "signature-input": `s=${parameters}`, signature: `s=:${mac}:` };
      // The payload of a GET is its query.
      const sent = { method: "GET", target: "/foo?a=1", headers, body: "a=1" };
      assert.equal(verdict(schemeOf("HS256"), sent, NOW), "genuine");
      assert.equal(verdict(schemeOf("HS256"), { ...sent, target: "/foo?a=2" }, NOW), "signature_mismatch");
    });

  test("without a time, or after its end, is refused", () => {
    const of = (input: string) =>
      verdict(schemeOf("HS256"), { headers: { "signature-input": input, signature: "s=:AAAA:" }, body: "" }, NOW);
    assert.equal(of('s=("date")'), "timestamp_missing");
    assert.equal(of(`s=();created=${NOW};expires=${NOW - 1}`), "timestamp_too_old");
  });

  test("that names another algorithm than an accepted one is refused", () => {
    const sent = signed(schemeOf("HS256"));
    const { "signature-input": input = "" } = sent.headers;
    assert.equal(verdict(schemeOf("HS256"), sent, NOW), "genuine");
    const headers = { ...sent.headers, "signature-input": input.replace("hmac-sha256", "rsa-v1_5-sha256") };
    assert.equal(verdict(schemeOf("HS256"), { ...sent, headers }, NOW), "signature_mismatch");
  });
});

suite("a signature of the draft", () => {
  test("has the signed text of one that Drone sent", () => {
    // https://github.com/Diesel-Net/drone-discord/blob/main/test/repo_disabled.sh, whose body is written anew.
    const headers = {
      signature:
        'keyId="hmac-key",algorithm="hmac-sha256",signature="nMQOWQSyloFPh3ZB8Uoh/D9QyzCtnVf0tk/jemJm058=",headers="date digest"',
      date: "Fri, 12 Nov 2021 23:33:47 GMT",
      digest: "SHA-256=kCit1zUa+1aDpnZhDSBCa0iVYPTeF6k2jCjHwE2lnQY=",
    };
    const read = readDraftSignature(headers.signature);
    assert.ok(read);
    const text = draftBase(read, requestOf({ headers, body: "{}" }));
    assert.ok(text);
    assert.deepEqual(createHmac("sha256", "webhook-secret").update(text).digest(), read.signature);
    assert.equal(readDigests("digest", headers.digest)?.get("sha-256")?.length, 32);
    const at = Date.parse(headers.date) / 1000;
    const scheme = schemeOf("HS256", { draft: "signature" });
    const by = { secrets: [secretOf("webhook-secret")] };
    assert.equal(verdict(scheme, { headers, body: "{}" }, at, by), "signature_mismatch");
    assert.equal(verdict(scheme, { headers, body: "{}" }, at + 301, by), "timestamp_too_old");
  });

  test("must cover the body and a time", () => {
    const scheme = schemeOf("HS256", { draft: "signature" });
    const sentWith = (list: string) => {
      const values: Record<string, string> = {
        date: new Date(NOW * 1000).toUTCString(),
        digest: `SHA-256=${hash("sha256", BODY, "base64")}`,
      };
      const text = list.split(" ").map((name) => `${name}: ${name === "(created)" ? NOW : values[name]}`);
      const mac = createHmac("sha256", SECRET).update(text.join("\n")).digest("base64");
      const signature = `keyId="a",algorithm="hs2019",created=${NOW},headers="${list}",signature="${mac}"`;
      return { headers: { ...values, signature }, body: BODY };
    };
    assert.equal(verdict(scheme, sentWith("date digest"), NOW), "genuine");
    assert.equal(verdict(scheme, sentWith("(created) digest"), NOW), "genuine");
    assert.equal(verdict(scheme, sentWith("date"), NOW), "signature_mismatch");
    assert.equal(verdict(scheme, sentWith("digest"), NOW), "timestamp_missing");
    const lenient = { ...scheme, isBodyOptional: true } as const;
    assert.equal(verdict(lenient, sentWith("date"), NOW), "genuine, without the body");
    assert.equal(verdict(lenient, { ...sentWith("date digest"), body: "{}" }, NOW), "signature_mismatch");
  });

  test("ends when it says, also if that is a text", () => {
    const scheme = schemeOf("HS256", { draft: "signature" });
    const end = (expires: string) => {
      const mac = createHmac("sha256", SECRET)
        .update(`(created): ${NOW}\n(expires): ${NOW - 60}`)
        .digest("base64");
      const signature = `keyId="a",created=${NOW},expires=${expires},headers="(created) (expires)",signature="${mac}"`;
      return verdict({ ...scheme, isBodyOptional: true }, { headers: { signature }, body: BODY }, NOW);
    };
    assert.equal(end(String(NOW - 60)), "timestamp_too_old");
    assert.equal(end(`"${NOW - 60}"`), "malformed_signature");
  });

  for (const value of ["", 'keyId="a"', 'signature="*"', 'signature="AA==",signature="AA=="', 'signature="AA==" x'])
    test(`${JSON.stringify(value)} is malformed`, () => assert.equal(readDraftSignature(value), null));
});

suite("the description of a signature of parts of the request", () => {
  test("names algorithms as RFC 9421 does", () => {
    const [scheme] = sourceIn("{ verify: { type: httpsig }, secrets: [env:SECRET] }").schemes;
    assert.deepEqual(scheme, schemeOf("HS256"));
    const described =
      "verify: { type: httpsig, format: draft, header: Authorization, algorithms: [hmac-sha256], unsignedBody: true }";
    assert.deepEqual(sourceIn(`{ ${described}, secrets: [env:SECRET] }`).schemes, [
      schemeOf("HS256", { draft: "authorization", isBodyOptional: true }),
    ]);
  });

  for (const [what, entry, fault] of [
    [
      "with both kinds",
      "verify: { type: httpsig, algorithms: [hmac-sha256, ed25519] }",
      /algorithms: found both kinds/,
    ],
    ["with one of tokens only", "verify: { type: httpsig, algorithms: [ES512] }", /algorithms: found another/],
    ["with a header of its own", "verify: { type: httpsig, header: a }", /header: found without format: draft/],
    ["with the format of another type", "verify: { header: a, format: draft }", /format: found "draft"/],
  ] as const) {
    test(`${what} is an error`, () => assert.match(faultsOf(`{ ${entry} }`).join("\n"), fault));
  }
});
