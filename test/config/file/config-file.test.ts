import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { HmacScheme } from "../../../src/webhook/signature/schemes.ts";
import { dir, ENVIRONMENT, faultsOf, sourceIn } from "../../helpers/config-file.ts";
import { secretOf } from "../../helpers/secret.ts";

suite("a source with a preset", () => {
  test("has what the preset says", () => {
    const { preset, path, schemes, id, type, bodyLimitBytes, contentTypes, isEnvelope } = sourceIn(
      "{ preset: github, secrets: [env:SECRET] }",
    );
    assert.deepEqual([preset, path, isEnvelope], ["github", "/webhook/shop", false]);
    assert.deepEqual([id, type], [["header:x-github-delivery"], ["header:x-github-event"]]);
    assert.deepEqual(contentTypes, ["application/json", "application/x-www-form-urlencoded"]);
    assert.equal(bodyLimitBytes, 25 * 1024 * 1024);
    assert.equal(schemes.length, 1);
    assert.equal(sourceIn("{ preset: stripe, secrets: [env:SECRET] }").isEnvelope, true);
  });

  test("has what its own keys say instead", () => {
    writeFileSync(join(dir, "secret"), "a secret in a file\n");
    const source = sourceIn(`
    preset: github
    path: /hooks/github
    secrets: [env:SECRET, file:secret]
    id: header:X-Own-Id
    type: body:a.b
    tolerance: 10s
    dedupe: id
    contentTypes: [Text/Plain, "*/*"]
    bodyLimit: 2k
    allowedAddresses: [192.0.2.0/24, "::1"]
    addressMode: watch`);
    const { schemes: _, allowedAddresses, ...rest } = source;
    assert.deepEqual(rest, {
      name: "shop",
      path: "/hooks/github",
      preset: "github",
      secrets: [secretOf(ENVIRONMENT.SECRET), secretOf("a secret in a file", "file:secret")],
      toleranceSeconds: 10,
      id: ["header:x-own-id", "header:x-github-delivery"],
      type: ["body:a.b", "header:x-github-event"],
      dedupe: "id",
      contentTypes: ["text/plain", "*/*"],
      isEnvelope: false,
      addressMode: "watch",
      bodyLimitBytes: 2048,
    });
    assert.equal(allowedAddresses?.check("192.0.2.9"), true);
    assert.equal(allowedAddresses?.check("192.0.3.9"), false);
  });
});

suite("retire", () => {
  const source = (retire: string) => `{ preset: github, secrets: [env:SECRET], retire: ${retire} }`;

  test("is a duration", () => {
    assert.equal(sourceIn(source("14d")).retireMs, 14 * 86_400_000);
    assert.equal(sourceIn("{ preset: github, secrets: [env:SECRET] }").retireMs, undefined);
  });

  test("is refused below a second and above a year", () => {
    for (const retire of ["999ms", "366d"]) {
      assert.match(faultsOf(source(retire)).join(), /^retire: found "\w+", expected a duration of at least 1000ms/);
    }
  });
});

suite("verify", () => {
  const DEFAULTS: HmacScheme = {
    type: "hmac",
    signature: { headers: ["x-sig"] },
    format: "bare",
    algorithm: "sha256",
    encodings: ["hex"],
    signed: "{body}",
    key: "utf8",
  };

  for (const [what, verify, changes] of [
    ["has defaults", "header: X-Sig", {}],
    ["takes algorithm", "header: x-sig, algorithm: sha512", { algorithm: "sha512" }],
    ["takes a field of a form", "in: form:sign", { signature: { form: "sign" } }],
    ["takes encoding", "header: x-sig, encoding: base64url", { encodings: ["base64url"] }],
    ["takes prefix", 'header: x-sig, prefix: "v1="', { label: "v1=" }],
    ["takes format and label", "header: x-sig, format: list, label: v1", { format: "list", label: "v1" }],
    [
      "takes signed",
      'header: x-sig, signed: "{method} {header:X-Id}{body}"',
      { signed: "{method} {header:x-id}{body}" },
    ],
    [
      "takes a timestamp in a header",
      'header: x-sig, signed: "{timestamp}.{body}", timestamp: { header: X-Time, unit: iso }',
      { signed: "{timestamp}.{body}", timestamp: { header: "x-time", unit: "iso" } },
    ],
    [
      "takes a timestamp in a pair",
      'header: x-sig, format: pairs, label: s, signed: "{timestamp}{body}", timestamp: { pair: t }',
      { format: "pairs", label: "s", signed: "{timestamp}{body}", timestamp: { pair: "t", unit: "s" } },
    ],
    ["takes key", "header: x-sig, key: whsec", { key: "whsec" }],
  ] as const) {
    test(what, () => {
      const { preset, schemes } = sourceIn(`{ verify: { ${verify} }, secrets: [env:SECRET] }`);
      assert.deepEqual([preset, schemes], [null, [{ ...DEFAULTS, ...changes }]]);
    });
  }

  test("takes tolerance", () => {
    assert.equal(sourceIn("{ verify: { header: a, tolerance: 2m }, secrets: [env:SECRET] }").toleranceSeconds, 120);
  });

  test("takes a token and Basic authentication", () => {
    const token = sourceIn('{ verify: { type: token, header: X-Token, prefix: "Bearer " }, secrets: [env:SECRET] }');
    assert.deepEqual(token.schemes, [{ type: "token", header: "x-token", label: "Bearer " }]);
    for (const [place, scheme] of [
      ["query: code", { query: "code" }],
      ["body: data.token", { json: "data.token" }],
      ["path: true", { path: true }],
    ] as const) {
      const { schemes } = sourceIn(`{ verify: { type: token, ${place} }, secrets: [env:SECRET] }`);
      assert.deepEqual(schemes, [{ type: "token", ...scheme }]);
    }
    writeFileSync(join(dir, "basic"), "user:a long password");
    assert.deepEqual(sourceIn("{ verify: { type: basic }, secrets: [file:basic] }").schemes, [{ type: "basic" }]);
  });

  for (const [verify, fault] of [
    ["{ prefix: a }", /^verify: header is missing/],
    ["{ header: a, prefix: a, format: pairs, label: a }", /^verify\.prefix: found beside format/],
    ["{ header: a, format: pairs }", /^verify\.format: label is missing/],
    ["{ header: a, label: a }", /^verify\.label: found without format/],
    [
      '{ header: a, signed: "{own:form}{body}" }',
      /^verify\.signed: found "\{own:form\}\{body\}", expected text with \{body\}/,
    ],
    ['{ header: a, signed: "{timestamp}{body}" }', /^verify\.signed: found \{timestamp\}/],
    ["{ header: a, timestamp: { header: t } }", /^verify\.timestamp: found a time that is not signed/],
    ['{ header: a, signed: "{timestamp}", timestamp: {} }', /^verify\.timestamp: found both or neither/],
    ['{ header: a, signed: "{timestamp}", timestamp: { pair: t } }', /^verify\.timestamp\.pair: found without format/],
    ['{ header: a, signed: "{boddy}" }', /^verify\.signed: found "\{boddy\}", expected text with \{body\}/],
    ["{ type: basic, header: a }", /^verify\.header: found beside type basic/],
    ["{ type: token, header: a, key: hex }", /^verify\.key: found beside type token/],
    ["{ type: token }", /^verify: header is missing, expected one of header, query, body, path$/],
    ["{ type: token, query: a, path: true }", /^verify: found query and path, expected one of header/],
    ["{ type: token, query: a, prefix: b }", /^verify\.prefix: found without header/],
    ["{ type: token, path: false }", /^verify\.path: found false, expected true$/],
    ["{ header: a, in: form:b }", /^verify\.in: found beside header/],
    ["{ type: rsa, header: a, algorithm: md5 }", /^verify\.algorithm: found "md5" beside type rsa/],
    ["{ in: b }", /^verify\.in: found "b", expected form:NAME$/],
    ["{ type: basic }", /^secrets\.0: found env:SECRET, .* expected user:password$/],
    ["{ header: a, key: hex }", /^secrets\.0: found env:SECRET, .* expected hex$/],
    ['{ header: "a b" }', /^verify\.header: found "a b", expected the name of a header$/],
  ] as const) {
    test(`${verify} is refused`, () => {
      const [first = "", ...more] = faultsOf(`{ verify: ${verify}, secrets: [env:SECRET] }`);
      assert.match(first, fault);
      assert.deepEqual(more, []);
    });
  }
});
