import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faults, faultsOf, read, sourceIn } from "../../helpers/config-file.ts";

test("a source answers the handshake of its preset only if it has handshake", () => {
  assert.deepEqual(sourceIn("{ preset: slack, secrets: [env:SECRET], handshake: true }").handshake, { kind: "slack" });
  assert.equal(sourceIn("{ preset: slack, secrets: [env:SECRET] }").handshake, undefined);
});

test("a handshake has a token where the provider has one", () => {
  const { handshake } = sourceIn("{ preset: meta, secrets: [env:SECRET], handshake: { token: env:OTHER } }");
  assert.equal(handshake?.kind, "meta");
  assert.deepEqual([handshake.token?.name, handshake.token?.value], ["env:OTHER", "another secret of the tests"]);
});

test("a weak token is warned of, without its value", () => {
  const yaml = "sources:\n  a: { preset: meta, secrets: [env:SECRET], handshake: { token: env:SHORT } }\n";
  const warnings = read(yaml, { SHORT: "tiny" })?.warnings ?? [];
  assert.match(warnings.join(), /sources\.a\.handshake\.token: env:SHORT is shorter than 16/);
  assert.doesNotMatch(warnings.join(), /tiny/);
});

test("a source may lack the secret that is made for its handshake, with a warning", () => {
  const entry = "{ preset: asana, handshake: true }";
  assert.deepEqual(sourceIn(entry).secrets, []);
  const warnings = read(`sources:\n  a: ${entry}\n`)?.warnings ?? [];
  assert.match(
    warnings.join(),
    /sources\.a\.secrets: missing: deliveries are refused until it has the secret that asana makes/,
  );
  assert.match(faultsOf("{ preset: asana }").join(), /^secrets: missing, expected a list such as \[env:NAME\]$/);
  assert.match(faultsOf("{ preset: slack, handshake: true }").join(), /^secrets: missing/);
});

test("a source describes the handshake that no preset has", () => {
  const described = (handshake: string) =>
    sourceIn(`{ verify: { header: x-sig }, secrets: [env:SECRET], handshake: ${handshake} }`).handshake;
  assert.deepEqual(described("{ type: head }"), { kind: "head" });
  assert.deepEqual(described("{ type: echo-query, name: Code }"), { kind: "echo-query", name: "Code" });
  assert.deepEqual(described("{ type: echo-header, name: X-Hook }"), {
    kind: "echo-header",
    name: "x-hook",
    as: "X-Hook",
  });
  const smartsheet = "{ type: echo-header, name: Smartsheet-Hook-Challenge, as: Smartsheet-Hook-Response }";
  assert.equal(described(smartsheet)?.as, "Smartsheet-Hook-Response");
  assert.deepEqual(described("{ type: hub }"), { kind: "hub" });
  assert.deepEqual(described("{ type: hub, as: hub.challenge }"), { kind: "hub", as: "hub.challenge" });
  assert.deepEqual(described("{ type: echo-json, name: Challenge }"), { kind: "echo-json", name: "Challenge" });
  const fitbit = described("{ type: match-query, name: verify, token: env:OTHER }");
  assert.deepEqual([fitbit?.kind, fitbit?.name, fitbit?.token?.name], ["match-query", "verify", "env:OTHER"]);
  assert.equal(described("{ type: hub, token: env:OTHER }")?.token?.name, "env:OTHER");
  const { handshake } = sourceIn("{ preset: stripe, secrets: [env:SECRET], handshake: { type: head } }");
  assert.deepEqual(handshake, { kind: "head" });
});

test("no source may have a path that another has below its own", () => {
  const yaml = `sources:
  air: { preset: airship, secrets: [env:SECRET], handshake: { token: env:OTHER } }
  b: { preset: slack, secrets: [env:SECRET], path: /webhook/air/push }
  c: { preset: slack, secrets: [env:SECRET], path: /webhook/air/validate }
`;
  const found = faults(yaml).join("\n");
  assert.match(found, /sources\.b\.path: found \/webhook\/air\/push a second time, after air \(line 2\)/);
  assert.match(found, /sources\.c\.path: found \/webhook\/air\/validate a second time, after air/);
});

suite("a handshake is refused", () => {
  for (const [what, entry, fault] of [
    [
      "without a preset",
      "{ verify: { header: x-sig }, secrets: [env:SECRET], handshake: true }",
      /^handshake: found without a preset, expected a preset of .*dropbox, .*slack/,
    ],
    [
      "with a preset whose provider has none",
      "{ preset: stripe, secrets: [env:SECRET], handshake: true }",
      /^handshake: found beside the preset stripe, whose provider has none, expected a preset of /,
    ],
    [
      "with a token that the provider does not have",
      "{ preset: slack, secrets: [env:SECRET], handshake: { token: env:OTHER } }",
      /^handshake\.token: found beside the preset slack, which has none, expected handshake: true$/,
    ],
    [
      "without the token that the provider has",
      "{ preset: meta, secrets: [env:SECRET], handshake: true }",
      /^handshake: found true, expected \{ token: env:NAME \} for the token that meta has$/,
    ],
    [
      "with a token that is not set",
      "{ preset: meta, secrets: [env:SECRET], handshake: { token: env:NONE } }",
      /^handshake\.token: found env:NONE, which is not set, expected a secret$/,
    ],
    [
      "with a token in the file, which is not shown",
      "{ preset: meta, secrets: [env:SECRET], handshake: { token: a-token-in-the-file } }",
      /^handshake\.token: found a literal value, expected env:NAME or file:PATH$/,
    ],
    [
      "with a text in its place, which is not shown",
      "{ preset: meta, secrets: [env:SECRET], handshake: a-token-in-the-file }",
      /^handshake: found a literal value, expected true, \{ token: env:NAME \} or \{ type: … \}$/,
    ],
    [
      "with an unknown key",
      "{ preset: meta, secrets: [env:SECRET], handshake: { token: env:OTHER, tokens: 1 } }",
      /^handshake\.tokens: unknown key, expected one of token, confirm, type, name, as \(did you mean token\?\)$/,
    ],
    [
      "with a type beside a preset that has its own",
      "{ preset: slack, secrets: [env:SECRET], handshake: { type: head } }",
      /^handshake\.type: found beside a preset whose provider has its own, expected none$/,
    ],
    [
      "with an unknown type",
      "{ verify: { header: x-sig }, secrets: [env:SECRET], handshake: { type: echo } }",
      /^handshake\.type: found a literal value, expected echo-header, echo-json, echo-query, head, hub, match-query$/,
    ],
    [
      "that is described without the place of the challenge",
      "{ verify: { header: x-sig }, secrets: [env:SECRET], handshake: { type: echo-query } }",
      /^handshake: name is missing, expected where type echo-query has the challenge$/,
    ],
    [
      "that compares a code, without the code",
      "{ verify: { header: x-sig }, secrets: [env:SECRET], handshake: { type: match-query, name: verify } }",
      /^handshake: token is missing, expected env:NAME with the code that type match-query compares$/,
    ],
    [
      "that is described with a key of another type",
      "{ verify: { header: x-sig }, secrets: [env:SECRET], handshake: { type: head, name: code } }",
      /^handshake\.name: found beside type head, expected nothing$/,
    ],
    [
      "that would echo a header of the answer itself",
      "{ verify: { header: x-sig }, secrets: [env:SECRET], handshake: { type: echo-header, name: content-length } }",
      /^handshake\.name: found a header that cannot be echoed, expected another$/,
    ],
    [
      "with the keys of a described one but no type",
      "{ preset: meta, secrets: [env:SECRET], handshake: { token: env:OTHER, name: code } }",
      /^handshake\.name: found without type, expected nothing$/,
    ],
    [
      "beside other media types than JSON if it signs challenges",
      "{ preset: x, secrets: [env:SECRET], handshake: true, contentTypes: [application/json, text/plain] }",
      /^contentTypes: found other types than JSON beside handshake, expected JSON types only$/,
    ],
  ] as const) {
    test(what, () => {
      const faults = faultsOf(entry);
      assert.equal(faults.length, 1, faults.join());
      assert.match(faults.join(), fault);
    });
  }
});
