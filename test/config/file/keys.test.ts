import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { dir, faults, faultsOf, read, sourceIn } from "../../helpers/config-file.ts";

const ed25519 = generateKeyPairSync("ed25519");
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const raw = ed25519.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
const pemOf = (key: KeyObject) => key.export({ format: "pem", type: "spki" }).toString();
const quoted = (text: string) => JSON.stringify(text);
const typesOf = (entry: string) =>
  sourceIn(entry).keys?.flatMap(({ keys }) => keys.map(({ key }) => key.asymmetricKeyType));

copyFileSync(join(import.meta.dirname, "../../fixtures/rsa.crt"), join(dir, "sender.pem"));
writeFileSync(join(dir, "private.pem"), ed25519.privateKey.export({ format: "pem", type: "pkcs8" }));
writeFileSync(join(dir, "jwks.json"), JSON.stringify({ keys: [ec.publicKey.export({ format: "jwk" })] }));

test("a public key is no secret: everybody has it", () => {
  const environment = { WHPK: `whpk_${raw.toString("base64")}`, PEM: pemOf(ed25519.publicKey) };
  for (const name of ["WHPK", "PEM"]) {
    const yaml = `sources:\n  shop: { preset: standard_webhooks, secrets: [env:${name}] }\n`;
    assert.match(
      faults(yaml, environment)[0] ?? "",
      /whose value is a key, expected a secret: public keys belong to keys$/,
    );
  }
});

test("a source that could take what anybody signs has a warning", () => {
  const file = read("sources:\n  shop: { preset: aws_sns, keys: [file:sender.pem] }\n");
  assert.match(file?.warnings.join() ?? "", /options\.topicArn is not set/);
});

suite("keys", () => {
  for (const [form, text] of [
    ["hex", raw.toString("hex")],
    ["base64", raw.toString("base64")],
    ["whpk_", `whpk_${raw.toString("base64")}`],
    ["PEM", pemOf(ed25519.publicKey)],
    ["PEM with line ends that are written out", pemOf(ed25519.publicKey).replaceAll("\n", "\\n")],
    ["PEM without line ends", pemOf(ed25519.publicKey).replaceAll("\n", "")],
    ["DER in base64", ed25519.publicKey.export({ format: "der", type: "spki" }).toString("base64")],
  ] as const) {
    test(`takes a key in ${form} as it is`, () => {
      const [key] = sourceIn(`{ preset: discord, keys: [${quoted(text)}] }`).keys ?? [];
      assert.match(key?.name ?? "", /^key:[0-9a-f]{12}$/);
      assert.ok(key?.keys[0]?.key.equals(ed25519.publicKey));
    });
  }

  test("takes several, also from a file or as a JWK", () => {
    const jwk = JSON.stringify({ ...ec.publicKey.export({ format: "jwk" }), kid: "one" });
    const { keys = [], secrets } = sourceIn(`{ preset: plaid, keys: [${jwk}, file:jwks.json] }`);
    assert.deepEqual(
      keys.map(({ keys }) => keys[0]?.id),
      ["one", null],
    );
    assert.equal(keys[1]?.name, "file:jwks.json");
    assert.deepEqual(secrets, []);
  });

  test("leaves out keys of Plaid that have expired", () => {
    const jwk = ec.publicKey.export({ format: "jwk" });
    const list = JSON.stringify({
      keys: [
        { ...jwk, kid: "old", expired_at: 1_700_000_000 },
        { ...jwk, kid: "new", expired_at: null },
      ],
    });
    assert.deepEqual(
      sourceIn(`{ preset: plaid, keys: [${quoted(list)}] }`).keys?.flatMap(({ keys }) => keys.map(({ id }) => id)),
      ["new"],
    );
  });

  test("takes the key of a certificate", () => {
    const options = "options: { webhookId: 4JH86294D6297924G }";
    assert.deepEqual(typesOf("{ preset: wise, keys: [file:sender.pem] }"), ["rsa"]);
    assert.deepEqual(sourceIn(`{ preset: paypal, keys: [file:sender.pem], ${options} }`).options, {
      webhookId: "4JH86294D6297924G",
    });
  });

  test("are those at the provider's URL if it has one, and none are set", () => {
    const placesOf = (entry: string) => sourceIn(entry).keys?.map(({ name, set }) => set?.place ?? name);
    assert.deepEqual(placesOf("{ preset: fal }"), ["https://rest.fal.ai/.well-known/jwks.json"]);
    assert.deepEqual(placesOf("{ preset: fal, keys: ['url:https://example.com/jwks'] }"), ["https://example.com/jwks"]);
    const source = "{ preset: google_pubsub, options: { email: push@example.iam.gserviceaccount.com } }";
    assert.deepEqual(placesOf(source), ["https://www.googleapis.com/oauth2/v3/certs"]);
    assert.deepEqual(sourceIn(source).options, { email: "push@example.iam.gserviceaccount.com", audience: "{url}" });
    assert.match(faultsOf("{ preset: google_pubsub }")[0] ?? "", /^options\.email: missing, expected the email of the/);
    assert.match(
      faultsOf("{ preset: fal, secrets: [env:SECRET] }").join(),
      /^keys: missing.*secrets: found where only/s,
    );
  });

  test("are beside secrets where a sender may use either", () => {
    const { keys, secrets } = sourceIn(
      `{ preset: standard_webhooks, secrets: [env:SECRET], keys: [${quoted(raw.toString("hex"))}] }`,
    );
    assert.deepEqual([keys?.length, secrets.length], [1, 1]);
  });

  for (const [what, entry, fault] of [
    [
      "without them",
      "{ preset: discord }",
      "keys: missing, expected the public keys of the sender, in a list such as [env:NAME]",
    ],
    [
      "secrets instead of them",
      "{ preset: discord, secrets: [env:SECRET] }",
      "keys: missing, expected the public keys of the sender, in a list such as [env:NAME]",
    ],
    [
      "keys beside secrets",
      `{ preset: github, secrets: [env:SECRET], keys: [${raw.toString("base64")}] }`,
      "keys: found where only secrets are used, expected nothing",
    ],
    ["neither", "{ preset: standard_webhooks }", ": found neither secrets nor keys, expected one of them"],
    [
      "a private key",
      "{ preset: discord, keys: [file:private.pem] }",
      "keys.0: found a private key, expected the public one of the sender",
    ],
    [
      "something else",
      "{ preset: discord, keys: [env:SECRET] }",
      "keys.0: found env:SECRET, whose value is no public key, expected one in hex, base64, PEM or JWK",
    ],
    [
      "a text that is none",
      "{ preset: discord, keys: [abc] }",
      "keys.0: found a text that is no public key, expected one in hex, base64, PEM or JWK",
    ],
    [
      "a key of another type",
      `{ preset: discord, keys: [${quoted(pemOf(ec.publicKey))}] }`,
      "keys.0: found a key of the type ec, expected ed25519",
    ],
    [
      "a URL without url:",
      "{ preset: discord, keys: ['https://example.com/jwks'] }",
      "keys.0: found a URL without url: before it, expected url:https://HOST/PATH",
    ],
    [
      "a URL by http",
      "{ preset: discord, keys: ['url:http://example.com/jwks'] }",
      "keys.0: found http, by which anybody on the way can change the keys, expected https",
    ],
    [
      "a URL with a password",
      "{ preset: discord, keys: ['url:https://user:password@example.com/jwks'] }",
      "keys.0: found a URL with a password, expected one without",
    ],
    [
      "a URL with a fragment",
      "{ preset: discord, keys: ['url:https://example.com/jwks#keys'] }",
      "keys.0: found a URL with a fragment, expected one without",
    ],
    [
      "another address",
      "{ preset: discord, keys: ['url:ftp://example.com/jwks'] }",
      "keys.0: found a URL that is not valid, expected https://HOST/PATH",
    ],
    [
      "a missing option",
      "{ preset: paypal, keys: [file:sender.pem] }",
      "options.webhookId: missing, expected the id of the webhook in PayPal",
    ],
    [
      "an unknown option",
      "{ preset: wise, keys: [file:sender.pem], options: { id: x } }",
      "options.id: found an unknown option, expected none",
    ],
    [
      "both kinds of algorithms",
      "{ verify: { type: jwt, algorithms: [HS256, RS256] }, secrets: [env:SECRET] }",
      "verify.algorithms: found both kinds, expected only those with secrets, or only those with keys",
    ],
  ] as const) {
    test(`names the fault of ${what}`, () => assert.equal(faultsOf(entry)[0], fault));
  }
});

suite("the claims of a described token", () => {
  const jwk = JSON.stringify(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" }));
  const source = (verify: string, keys = jwk) =>
    `{ verify: { type: jwt, algorithms: [RS256], ${verify} }, keys: [${quoted(keys)}] }`;

  test("are texts, numbers or booleans, or a list of them", () => {
    const [scheme] = sourceIn(
      source("claims: { email: [a@example.com, b@example.com], email_verified: true, n: 1 }"),
    ).schemes;
    assert.deepEqual(scheme && "claims" in scheme ? scheme.claims : null, {
      email: ["a@example.com", "b@example.com"],
      email_verified: ["true"],
      n: ["1"],
    });
  });

  for (const [what, verify, keys] of [
    ["issuer", "issuer: https://accounts.google.com, audience: https://hooks.example.com/"],
    ["the claim iss", "claims: { iss: [accounts.google.com], aud: https://hooks.example.com/ }"],
    ["its keys", "audience: https://hooks.example.com/", "url:https://www.googleapis.com/oauth2/v3/certs"],
    ["the claim iss, with email_verified", "claims: { iss: https://accounts.google.com, email_verified: true }"],
  ] as [string, string, string?][]) {
    test(`are needed of an issuer that signs for everybody, by ${what}`, () => {
      assert.match(
        faultsOf(source(verify, keys)).join(),
        /^verify\.claims: (?:missing|found without an identity), expected email or sub: anybody gets tokens of this issuer/,
      );
    });
  }

  test("name the client of Apple's tokens, and tokens of logins cannot sign a body", () => {
    const apple = '"url:https://appleid.apple.com/auth/keys"';
    assert.match(faultsOf(`{ verify: { type: jws }, keys: [${apple}] }`).join(), /claims: missing, expected aud/);
    sourceIn(`{ verify: { type: jws, claims: { aud: com.example.app } }, keys: [${apple}] }`);
    const detached = "type: jws, header: x-s, algorithms: [RS256], detached";
    assert.match(
      faultsOf(`{ verify: { ${detached}: true }, keys: [${apple}] }`).join(),
      /^verify\.detached: found true, expected unencoded/,
    );
    sourceIn(`{ verify: { ${detached}: unencoded }, keys: [${apple}] }`);
  });

  for (const claim of ["email: push@example.com", 'sub: "113774264463038321964"']) {
    test(`are enough with ${claim}`, () => {
      sourceIn(source(`issuer: https://accounts.google.com, claims: { ${claim} }`));
    });
  }

  for (const [claims, fault] of [
    ["{}", "expected at least one claim"],
    ["{ email: { is: a } }", "expected a text or a list of texts"],
    ["[email]", "expected a map of claims"],
  ] as const) {
    test(`are not ${claims}`, () => assert.match(faultsOf(source(`claims: ${claims}`)).join(), new RegExp(fault)));
  }
});
