import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PRESETS } from "../../../src/webhook/presets/index.ts";
import type { Preset } from "../../../src/webhook/presets/preset.ts";
import type { Scheme, SignedScheme } from "../../../src/webhook/schemes.ts";
import { coversBody, unknownPlaceholder } from "../../../src/webhook/signed-text.ts";
import slugs from "../../fixtures/preset-slugs.json" with { type: "json" };

const HEADER_NAME = /^[a-z0-9-]+$/;
const PLACE = /^(?:header:[a-z0-9-]+|body:[^:]+|claim:[a-z]+)$/;
const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]+$/;

const presets = Object.entries(PRESETS);
const signedOf = ({ schemes }: Preset) => schemes.filter((scheme) => "signed" in scheme);
const schemes = presets.flatMap(([slug, preset]) => signedOf(preset).map((scheme) => [slug, scheme] as const));

const placeholdersIn = ({ signed, optional = [] }: SignedScheme) =>
  [...optional, signed].join("").match(/\{[^}]*\}?/g) ?? [];
const headersOf = (scheme: SignedScheme) => ("headers" in scheme.signature ? scheme.signature.headers : []);

/** The slugs of the presets that a rule does not hold for. */
const breaking = (holds: (preset: Preset) => boolean) =>
  presets.filter(([, preset]) => !holds(preset)).map(([slug]) => slug);
/** As `breaking`, of a rule for each scheme. */
const breakingScheme = (holds: (scheme: SignedScheme) => boolean) =>
  schemes.filter(([, scheme]) => !holds(scheme)).map(([slug]) => slug);

/** Presets besides the 111 that were asked for. */
const OTHERS = [
  ...["adobe_io", "adyen", "alipay", "atlassian_connect", "auth0", "aws_sns", "azure_eventgrid", "bird", "chargebee"],
  ...["cloudevents", "cloudflare", "convoy", "discord", "ebay", "flutterwave", "forgejo", "gitea", "gitlab", "hook0"],
  ...["line", "messagebird", "mollie", "monday", "ms_graph", "netlify", "okta", "outpost", "paypal", "plaid"],
  ...["postmark", "sendgrid", "svix", "telegram", "telnyx", "terraform", "viber", "vonage", "wechat_pay", "wise"],
  ...["worldpay"],
];

suite("the presets", () => {
  test("hold every known provider", () => {
    assert.equal(slugs.length, 111);
    assert.deepEqual(
      slugs.filter((slug) => !(slug in PRESETS)),
      [],
    );
  });

  test("hold the senders that a provider may run", () => {
    const others = Object.keys(PRESETS).filter((slug) => !slugs.includes(slug));
    assert.deepEqual(others, OTHERS);
  });

  test("are in alphabetical order", () => {
    assert.deepEqual(Object.keys(PRESETS), Object.keys(PRESETS).sort());
  });

  test("have a title, a page by https and a scheme", () => {
    assert.deepEqual(
      breaking(({ title, docs, schemes }) => title !== "" && new URL(docs).protocol === "https:" && schemes.length > 0),
      [],
    );
  });

  test("name places and media types that can exist", () => {
    assert.deepEqual(
      breaking(({ id = [], type = [] }) => [...id.flat(), ...type].every((place) => PLACE.test(place))),
      [],
    );
    assert.deepEqual(
      breaking(({ contentTypes = ["application/json"] }) => contentTypes.every((type) => MEDIA_TYPE.test(type))),
      [],
    );
  });

  test("do not take a place twice", () => {
    assert.deepEqual(
      breaking(({ id = [], type = [] }) => new Set([...id, ...type]).size === id.length + type.length),
      [],
    );
  });
});

suite("the scheme of a preset", () => {
  test("signs only what the verifier can read", () => {
    assert.deepEqual(
      breakingScheme(({ signed, optional = [] }) =>
        [...optional, signed].every((text) => unknownPlaceholder(text) === undefined),
      ),
      [],
    );
  });

  test("names headers in lower case", () => {
    const named = (scheme: SignedScheme) => [
      ...headersOf(scheme),
      ...(scheme.timestamp && "header" in scheme.timestamp ? [scheme.timestamp.header] : []),
      ...placeholdersIn(scheme).flatMap((placeholder) => /^\{header:(.*)\}$/.exec(placeholder)?.[1] ?? []),
    ];
    assert.deepEqual(
      breakingScheme((scheme) => named(scheme).every((header) => HEADER_NAME.test(header))),
      [],
    );
  });

  test("has a place for its signature", () => {
    assert.deepEqual(
      breakingScheme(({ signature }) => !("headers" in signature) || signature.headers.length > 0),
      [],
    );
  });

  test("has a place for the timestamp exactly when it signs one", () => {
    assert.deepEqual(
      breakingScheme(({ signed, timestamp }) => signed.includes("{timestamp}") === (timestamp !== undefined)),
      [],
    );
  });

  test("reads items of a header only where it has items", () => {
    const readsItems = ({ signed, timestamp }: SignedScheme) =>
      /\{(?:pair|headers):/.test(signed) || (timestamp !== undefined && "pair" in timestamp);
    assert.deepEqual(
      breakingScheme((scheme) => !readsItems(scheme) || scheme.format === "pairs"),
      [],
    );
  });

  test("covers the body where the preset says so", () => {
    const coversAll = (scheme: Scheme) =>
      scheme.type === "jwt"
        ? scheme.bodyClaim !== undefined
        : "signed" in scheme && (coversBody(scheme.signed) || scheme.bodyHash !== undefined);
    assert.deepEqual(
      breaking((preset) => preset.covers !== "body" || preset.schemes.every(coversAll)),
      [],
    );
  });

  test("takes forms where it signs their fields", () => {
    const signsForm = (preset: Preset) => signedOf(preset).some(({ signed }) => /\{form[:}]/.test(signed));
    assert.deepEqual(
      breaking((preset) => !signsForm(preset) || preset.contentTypes?.[0] === "application/x-www-form-urlencoded"),
      [],
    );
  });
});
