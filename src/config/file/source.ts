import * as v from "valibot";
import { CODINGS } from "../../lib/content-coding.ts";
import { defined } from "../../lib/defined.ts";
import { NAMED_JSON } from "../../lib/header-value.ts";
import { parseIsoTime } from "../../lib/iso-time.ts";
import { NAME } from "../../lib/name.ts";
import { DELIVERY_METHODS, isInQuery } from "../../webhook/content/body.ts";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import { handshakeOf } from "../../webhook/handshakes/kinds.ts";
import type { HandshakeSettings } from "../../webhook/provider/handshake.ts";
import type { Provider } from "../../webhook/provider.ts";
import { providerOf } from "../../webhook/providers/index.ts";
import { asksForCredentials, type IdPlace, isInPath, needsOf, type Scheme } from "../../webhook/signature/schemes.ts";
import { identityClaimsOf } from "../../webhook/signature/shared-issuers.ts";
import { below, pathsOf, type Source } from "../../webhook/source.ts";
import { duration, MAX_AGE, oneOf, parsed, path, size } from "../fields.ts";
import { ADDRESS_KEYS, readAllowedAddresses } from "./addresses.ts";
import { AnswerSchema } from "./answer.ts";
import { CatchUpSchema, readCatchUp } from "./catch-up.ts";
import { key, listOf, NAME_EXPECTATION, numberOrText, rateOf, TEXT, textLike } from "./fields.ts";
import { HandshakeSchema, readHandshake } from "./handshake.ts";
import { HoldSchema } from "./hold.ts";
import { DedupeSchema, IdSchema, TypeSchema } from "./identity.ts";
import { KEY_KEYS, type KeyEntry, readKeys, readOptions } from "./keys.ts";
import { PRESET } from "./preset.ts";
import { pathOfDefaultSource, type Reading } from "./reading.ts";
import { checkRedact, RedactSchema } from "./redact.ts";
import { RenewSchema, readRenew } from "./renew.ts";
import { map, mapOf, type Whole } from "./shape.ts";
import { checkSharedSecrets, readSecrets } from "./source-secrets.ts";
import { TOLERANCE, VerifySchema } from "./verify.ts";
import type { Path } from "./yaml-document.ts";

const mediaRange = v.pipe(
  textLike(
    /^(?:\*\/\*|application\/\*\+json|[\w.+-]+\/(?:\*|[\w.+-]+))$/,
    "expected a media type, e.g. application/json",
  ),
  v.toLowerCase(),
);

const timeText = parsed(parseIsoTime, "expected a time, e.g. 2026-12-31T12:00:00Z");

const bodyLimit = numberOrText(size, "expected a size from 1 byte to 64m, e.g. 1m");

const SOURCE_KEYS = {
  preset: key(PRESET, "The provider that sends. `authserve sources presets` lists them."),
  verify: key(VerifySchema, "How the sender signs, if no preset fits."),
  path: key(path, "The path of the URL. Default: `/webhook/` and the name of the source."),
  secrets: key(
    listOf(TEXT, "secret", "expected a list such as [env:NAME]"),
    "Where the secrets are, the newest first: `env:NAME`, or `file:PATH` relative to this file.",
  ),
  ...KEY_KEYS,
  id: key(
    IdSchema,
    "Where the id of an event is: `body:PATH` with dots between the names, `header:NAME`, `claim:NAME` of a signed token, or `bytes` for a digest. A list is an id of several places together.",
  ),
  type: key(TypeSchema, "Where the type of an event is: `body:PATH`, `header:NAME` or `claim:NAME`."),
  dedupe: key(
    DedupeSchema,
    "What makes a duplicate. `bytes`: a known signed id, or without one the same bytes. `id`: a known id, signed or not. `off`: nothing. A duration such as `5m`: the same bytes within it. Default: that of the preset, or `bytes`.",
  ),
  tolerance: key(TOLERANCE, "Largest difference of the signed time from the clock."),
  contentTypes: key(
    listOf(mediaRange, "media type"),
    'Accepted media types. `text/*` and `application/*+json` are ranges, and `"*/*"` means any. Default: those of the preset, or JSON, also under names such as `application/hal+json`.',
  ),
  methods: key(
    listOf(oneOf(...DELIVERY_METHODS), "method", "expected a list such as [POST, GET]"),
    "The methods of deliveries. With `GET` and `HEAD` the query is the payload, as a form. Default: `[POST]`.",
  ),
  answer: key(
    AnswerSchema,
    "The answer to a delivery, when its event is stored. Default: that of the preset, or our usual JSON.",
  ),
  encoding: key(
    listOf(oneOf(...CODINGS), "encoding", "expected a list such as [gzip]"),
    "Accepted values of `Content-Encoding`. Bodies are stored and passed on decoded. Default: those of the preset, or none.",
  ),
  signedOver: key(
    oneOf("plain", "encoded"),
    "Whether the signature of an encoded body covers the decoded one (`plain`) or the one that is sent (`encoded`). Default: that of the preset, or `plain`.",
  ),
  bodyLimit: key(bodyLimit, "Largest body. Default: that of the preset, or `WEBHOOK_BODY_LIMIT`."),
  ...ADDRESS_KEYS,
  redact: key(
    RedactSchema,
    "Members of JSON, and fields of forms, that are replaced by `[redacted]` before anything is stored, such as `data.card`. `*` is any one name, `**` any number of names, as in `data.**.email`. A delivery that is neither JSON nor an urlencoded form is refused. See [private payloads](../private-payloads.md).",
  ),
  keepRejected: key(
    HoldSchema,
    "Keeps deliveries whose signature matches no secret, or a retired one, within bounds, the newest ones. `authserve events reverify` admits them when the secret is corrected.",
  ),
  retire: key(
    duration(1000, "14d", MAX_AGE),
    "An old secret that has not matched for so long is no longer accepted. Default: it stays accepted.",
  ),
  handshake: key(
    HandshakeSchema,
    "Answers the handshake by which the provider checks the URL: `true`, `{ token: env:NAME }` where it has a token, or `{ type: … }` without a preset. Default: no answer.",
  ),
  catchUp: key(
    CatchUpSchema,
    "Gets from the provider's API what was missed: GitHub, GitLab, Stripe, PayPal, Svix and who signs as it does.",
  ),
  expiresAt: key(timeText, "When the subscription at the provider ends. An alert fires before."),
  renew: key(RenewSchema, "Renews the subscription: Microsoft Graph and Google channels."),
  rate: key(
    rateOf("deliveries"),
    "Deliveries that each server takes per second, minute or hour, e.g. `100/s`. As many may come at once. Others get 429 with `Retry-After`. Default: any number.",
  ),
  expectEvery: key(
    duration(1000, "24h", MAX_AGE),
    "The longest usual time between two deliveries. After that and a fifth of it without one, an alert fires.",
  ),
};

type SourceEntry = Whole<typeof SOURCE_KEYS>;

/** The sources, by name. */
export const SourcesSchema = v.pipe(
  mapOf(
    textLike(NAME, NAME_EXPECTATION),
    map(SOURCE_KEYS, "expected a map with preset or verify, and secrets", {
      check(entry, reading) {
        // Whether its secrets are there is said beside any other fault.
        if (reading.isWrong) readSecrets(entry.secrets ?? [], [], reading.at("secrets"));
      },
      read: readSource,
    }),
    "expected a map of names and sources",
    checkSources,
  ),
  v.transform((sources) => Object.values(sources)),
);

/** Checks the sources without faults against each other, and against the one of the environment. */
function checkSources(entries: Readonly<Record<string, Source | undefined>>, reading: Reading): void {
  const defaultPath = pathOfDefaultSource(reading.context.environment);
  const paths = new Map<string, string>(defaultPath === null ? [] : [[defaultPath, DEFAULT_SOURCE_NAME]]);
  if (defaultPath !== null && Object.hasOwn(entries, DEFAULT_SOURCE_NAME))
    reading
      .at(DEFAULT_SOURCE_NAME)
      .fault("found a name that WEBHOOK_SECRET already makes, expected another name", "key");
  const sources = Object.values(entries).filter((source) => source !== undefined);
  for (const source of sources) {
    const { deliveries, check } = pathsOf(source);
    const withSecret = source.schemes.some(isInPath) ? [below(source.path, "/…")] : [];
    const all = [...new Set([...deliveries, check, ...withSecret])];
    const taken = all.find((one) => paths.has(one)) ?? "";
    const other = paths.get(taken);
    if (other !== undefined) {
      const isOfEnvironment = other === DEFAULT_SOURCE_NAME && defaultPath !== null;
      const at = isOfEnvironment ? "the environment" : `line ${reading.lineOf([...reading.path, other], "key")}`;
      reading
        .at(source.name, "path")
        .fault(`found ${taken} a second time, after ${other} (${at}), expected another path`);
    }
    for (const one of all) paths.set(one, source.name);
  }
  checkSharedSecrets(sources, reading);
}

function readSource(entry: SourceEntry, reading: Reading): Source | null {
  const schemes = schemesOf(entry, reading);
  const { path, entries } = keyEntriesOf(entry);
  const secrets = readSecrets(entry.secrets ?? [], schemes, reading.at("secrets"));
  const keys = readKeys(entries, schemes, reading.at(...path));
  const options = readOptions(entry, reading);
  const allowed = readAllowedAddresses(entry, reading);
  const handshake = readHandshake(entry, reading);
  const catchUp = readCatchUp(entry, schemes, reading);
  const renew = readRenew(entry, reading);
  checkMethods(entry, handshake, reading);
  checkRoot(entry, handshake, reading);
  checkNeeds(entry, schemes, reading);
  checkClaims(entry, reading);
  if (awaitsSecret(entry))
    reading
      .at("secrets")
      .warn(`missing: deliveries are refused until it has the secret that ${entry.preset} makes with the webhook`);
  const source = sourceOf(entry, schemes, reading);
  checkRedact(source, reading.at("redact"));
  if (reading.isWrong) return null;
  return {
    ...source,
    secrets,
    ...(keys.length > 0 && { keys }),
    ...(Object.keys(options).length > 0 && { options }),
    ...allowed,
    ...(handshake && { handshake }),
    ...(catchUp && { catchUp }),
    ...(renew && { renew }),
  };
}

function schemesOf({ preset, verify }: SourceEntry, reading: Reading): readonly Scheme[] {
  if ((preset === undefined) === (verify === undefined)) {
    const found = preset === undefined ? "found neither preset nor verify" : "found preset and verify";
    reading.fault(`${found}, expected one of them`);
    return [];
  }
  return verify === undefined ? (providerOf(preset)?.schemes ?? []) : [verify.scheme];
}

/** A method can be that of deliveries or of the handshake, not both. */
function checkMethods({ methods = [] }: SourceEntry, handshake: HandshakeSettings | null, reading: Reading): void {
  const { get: GET, head: HEAD, options: OPTIONS } = handshakeOf(handshake) ?? {};
  const taken: Record<string, unknown> = { GET, HEAD, OPTIONS };
  for (const [index, method] of methods.entries())
    if (taken[method])
      reading.at("methods", index).fault(`found ${method}, by which the handshake comes, expected another method`);
}

/** A browser that asks for the path `/` is sent to the login page. */
function checkRoot({ path, methods = [] }: SourceEntry, handshake: HandshakeSettings | null, reading: Reading): void {
  if (path !== "/") return;
  const { get, head } = handshakeOf(handshake) ?? {};
  if (get || head)
    reading
      .at("path")
      .fault("found / with a handshake by GET or HEAD, which leads to the login page, expected another path");
  for (const [index, method] of methods.entries())
    if (isInQuery(method))
      reading
        .at("methods", index)
        .fault(`found ${method} at the path /, which leads to the login page, expected another method or path`);
}

/** The public keys of a source, and where they are in its entry. */
function keyEntriesOf({ keys, verify, ...rest }: SourceEntry): { path: Path; entries: readonly KeyEntry[] } {
  if (verify?.roots) return { path: ["verify", "roots"], entries: verify.roots };
  return { path: ["keys"], entries: keys ?? usualKeys(rest) };
}

/** The provider's keys, or where it publishes them, for a source that sets neither keys nor secrets. */
function usualKeys({ preset, secrets }: Pick<SourceEntry, "preset" | "secrets">): readonly string[] {
  const { keysUrl, keys = [] } = providerOf(preset) ?? NO_PRESET;
  if (secrets !== undefined) return [];
  return keysUrl === undefined ? keys : [`url:${keysUrl}`];
}

/** Whether the source waits for the handshake that makes its secret. */
function awaitsSecret({ preset, secrets, handshake }: SourceEntry): boolean {
  return secrets === undefined && handshake === true && providerOf(preset)?.handshake?.validation?.secret !== undefined;
}

/** The tokens of an issuer that signs for everybody need a claim that says whose they are. */
function checkClaims({ verify, keys = [] }: SourceEntry, reading: Reading): void {
  const { scheme } = verify ?? {};
  const places = keys.flatMap((key) => (typeof key === "string" ? key.replace(/^url:/, "") : []));
  if (scheme?.type === "detached-jws" && !scheme.isUnencoded && identityClaimsOf([], places) !== null)
    reading.at("verify", "detached").fault("found true, expected unencoded: tokens of logins with these keys fit, too");
  if (scheme?.type !== "jwt" && scheme?.type !== "jws") return;
  const { claims = {} } = scheme;
  const { issuer, audience } = scheme.type === "jwt" ? scheme : {};
  const issuers = [issuer ?? [], claims.iss ?? []].flat();
  const identity = identityClaimsOf(issuers, places);
  const required: Record<string, unknown> = { aud: audience, ...claims };
  if (identity === null || identity.some((name) => required[name] !== undefined)) return;
  const found = scheme.claims === undefined ? "missing" : "found without an identity";
  reading
    .at("verify", "claims")
    .fault(`${found}, expected ${identity.join(" or ")}: anybody gets tokens of this issuer, for any audience`);
}

/** Checks which of secrets and keys the entry has. */
function checkNeeds(entry: SourceEntry, schemes: readonly Scheme[], reading: Reading): void {
  const { secrets, keys = keyEntriesOf(entry).entries.length > 0 ? [] : undefined, verify } = entry;
  if (verify?.roots && entry.keys) {
    reading.at("keys").fault("found beside verify.roots, expected nothing", "key");
    return;
  }
  const [need, other] = new Set(schemes.map(needsOf));
  // Without a scheme there is a fault already, and with both kinds any of them is right.
  if (need === undefined) return;
  if (other !== undefined) {
    if (secrets === undefined && keys === undefined)
      reading.fault("found neither secrets nor keys, expected one of them");
    return;
  }
  const [given, extra] = need === "secrets" ? [secrets, keys] : [keys, secrets];
  if (given === undefined && !awaitsSecret(entry)) reading.at(need).fault(`missing, expected ${EXPECTED[need]}`);
  if (extra === undefined) return;
  reading
    .at(need === "secrets" ? "keys" : "secrets")
    .fault(`found where only ${need} are used, expected nothing`, "key");
}

const EXPECTED = {
  secrets: "a list such as [env:NAME]",
  keys: "the public keys of the sender, in a list such as [env:NAME]",
};

const NO_PRESET: Partial<Provider> = {};

/** What a sender without a preset may send, unless the source says otherwise. */
const ANY_JSON = ["application/json", NAMED_JSON];

function sourceOf(entry: SourceEntry, schemes: readonly Scheme[], reading: Reading): Omit<Source, "secrets"> {
  // These are read by themselves.
  const { secrets, keys, options, allowedAddresses, addressRefresh, handshake, catchUp, renew, ...own } = entry;
  const { preset: slug, verify, path, id, type, dedupe, contentTypes, bodyLimit, answer, ...others } = own;
  const { tolerance, encoding, signedOver: over, retire, expectEvery, ...same } = others;
  // A key that is not named above is a member of the source with the same name.
  const members: Pick<Source, keyof typeof same> = defined(same);
  const preset = providerOf(slug) ?? NO_PRESET;
  const name = String(reading.path.at(-1));
  const toleranceMs = verify?.toleranceMs ?? tolerance;
  const signedOver = over ?? preset.signedOver;
  const acknowledgement = preset.acknowledgement && { status: 200, ...preset.acknowledgement };
  return {
    name,
    path: path ?? `/webhook/${name}`,
    preset: slug ?? null,
    schemes,
    id: before<IdPlace | "bytes">(id, preset.id),
    type: before(type, preset.type),
    dedupe: dedupe ?? preset.dedupe?.mode ?? "bytes",
    contentTypes: contentTypes ?? preset.contentTypes ?? (slug === undefined ? ANY_JSON : ["application/json"]),
    isEnvelope: preset.isEnvelope ?? false,
    // The usual limit, or the largest body that the provider sends.
    bodyLimitBytes: bodyLimit ?? Math.max(reading.context.bodyLimitBytes, preset.facts?.maxBodyBytes?.is ?? 0),
    ...members,
    ...defined({
      subPaths: preset.subPaths,
      toleranceSeconds: toleranceMs && Math.floor(toleranceMs / 1000),
      encoding: encoding ?? preset.encoding,
      signedOver: signedOver === "encoded" ? signedOver : undefined,
      expectEveryMs: expectEvery,
      retireMs: retire,
      acknowledgement: answer ?? acknowledgement,
      refusedStatus: asksForCredentials(schemes) ? 401 : preset.refusedStatus,
      needsEmptyAnswers: preset.needsEmptyAnswers,
    }),
  };
}

/** What the entry has, and then what is known of the provider. */
const before = <T>(own: T | undefined, usual: readonly T[] = []) => (own === undefined ? usual : [own, ...usual]);
