import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Provider } from "../../../src/webhook/provider.ts";
import { allProviders, PROVIDER_NAMES, providerOf } from "../../../src/webhook/providers/index.ts";
import type { Scheme, SignedScheme } from "../../../src/webhook/signature/schemes.ts";
import { coversBody, ownPartsOf, unknownPlaceholder } from "../../../src/webhook/signature/signed-text.ts";
import slugs from "../../fixtures/preset-slugs.json" with { type: "json" };

const HEADER_NAME = /^[a-z0-9-]+$/;
const PLACE = /^(?:header:[a-z0-9-]+|body:[^:]+|claim:[A-Za-z]+)$/;
const MEDIA_TYPE = /^(?:\*\/\*|[a-z]+\/[a-z0-9.+-]+)$/;

const providers = allProviders();
const signedOf = ({ schemes }: Provider) => schemes.filter((scheme) => "signed" in scheme);
const schemes = providers.flatMap(([slug, provider]) => signedOf(provider).map((scheme) => [slug, scheme] as const));

const placeholdersIn = ({ signed }: SignedScheme) => signed.match(/\{[^}]*\}?/g) ?? [];
/** By its placeholder, or as one of the headers that an own part always covers. */
const signsTime = (scheme: SignedScheme) => {
  const { signed, timestamp } = scheme;
  const header = timestamp && "header" in timestamp ? timestamp.header : "";
  return signed.includes("{timestamp}") || ownPartsOf(scheme).some(({ covers }) => covers?.headers?.includes(header));
};
const headersOf = (scheme: SignedScheme) => ("headers" in scheme.signature ? scheme.signature.headers : []);

/** The slugs of the providers that a rule does not hold for. */
const breaking = (holds: (provider: Provider) => boolean) =>
  providers.filter(([, provider]) => !holds(provider)).map(([slug]) => slug);
/** As `breaking`, of a rule for each scheme. */
const breakingScheme = (holds: (scheme: SignedScheme) => boolean) =>
  schemes.filter(([, scheme]) => !holds(scheme)).map(([slug]) => slug);

suite("the providers", () => {
  test("hold each of the 111 that were asked for", () => {
    assert.equal(slugs.length, 111);
    assert.deepEqual(
      slugs.filter((slug) => !PROVIDER_NAMES.includes(slug)),
      [],
    );
  });

  test("are in alphabetical order", () => {
    assert.deepEqual(PROVIDER_NAMES, [...PROVIDER_NAMES].sort());
  });

  test("have a title, a page by https and a scheme", () => {
    assert.deepEqual(
      breaking(({ title, docs, schemes }) => title !== "" && new URL(docs).protocol === "https:" && schemes.length > 0),
      [],
    );
  });

  test("sign as the preset that they are another name of", () => {
    const aliases = providers.filter(([, { aliasOf }]) => aliasOf !== undefined);
    assert.ok(aliases.length >= 6);
    for (const [slug, { aliasOf, schemes, title }] of aliases) {
      const named = providerOf(aliasOf);
      assert.deepEqual(schemes, named?.schemes, slug);
      assert.ok(title.endsWith(`(${named?.title})`), slug);
    }
  });

  test("name places and media types that can exist", () => {
    assert.deepEqual(
      breaking(({ id = [], type = [] }) => [...id, ...type].flat().every((place) => PLACE.test(place))),
      [],
    );
    assert.deepEqual(
      breaking(({ contentTypes = ["application/json"] }) => contentTypes.every((type) => MEDIA_TYPE.test(type))),
      [],
    );
  });

  test("say who says each fact: a page, or a package with its version", () => {
    const SOURCE = /^(?:https:\/\/\S+|(?:@[\w.-]+\/)?[\w.-]+@\d\S*)$/;
    assert.deepEqual(
      breaking(({ facts = {}, dedupe }) =>
        [...Object.values(facts), ...(dedupe ? [dedupe] : [])].every(({ source }) => SOURCE.test(source)),
      ),
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

suite("the scheme of a provider", () => {
  test("signs only what the verifier can read", () => {
    assert.deepEqual(
      breakingScheme((scheme) => unknownPlaceholder(scheme) === undefined),
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
      breakingScheme((scheme) => signsTime(scheme) === (scheme.timestamp !== undefined)),
      [],
    );
  });

  test("reads items of a header only where it has items", () => {
    const readsItems = ({ signed, timestamp }: SignedScheme) =>
      signed.includes("{pair:") || (timestamp !== undefined && "pair" in timestamp);
    assert.deepEqual(
      breakingScheme((scheme) => !readsItems(scheme) || scheme.format === "pairs"),
      [],
    );
  });

  test("covers the body where the provider's file says so", () => {
    const coversAll = (scheme: Scheme) =>
      scheme.type === "jwt"
        ? scheme.bodyClaim !== undefined
        : scheme.type === "detached-jws" ||
          (scheme.type === "httpsig" && !scheme.isBodyOptional) ||
          ("signed" in scheme && (coversBody(scheme) || scheme.bodyHash !== undefined || scheme.isIdentity === true));
    assert.deepEqual(
      breaking(({ covers, schemes }) => covers !== "body" || schemes.every(coversAll)),
      [],
    );
  });

  test("takes forms where it signs their fields", () => {
    const signsForm = (provider: Provider) =>
      signedOf(provider).some(({ signed }) => /\{(?:form:|own:form\})/.test(signed));
    assert.deepEqual(
      breaking(
        (provider) =>
          !signsForm(provider) || (provider.contentTypes ?? []).includes("application/x-www-form-urlencoded"),
      ),
      [],
    );
  });
});
