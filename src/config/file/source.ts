import * as v from "valibot";
import { CODINGS } from "../../lib/content-coding.ts";
import { defined } from "../../lib/defined.ts";
import { FORM, isJson, isJsonLines, NAMED_JSON } from "../../lib/header-value.ts";
import { parseIsoTime } from "../../lib/iso-time.ts";
import { namesOfPath } from "../../lib/redact-json.ts";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import { handshakeOf } from "../../webhook/handshakes/kinds.ts";
import { DEFAULT_HELD_BOUNDS } from "../../webhook/held/held-store.ts";
import { redactedPlace } from "../../webhook/intake/redact.ts";
import type { Provider } from "../../webhook/provider.ts";
import { providerOf } from "../../webhook/providers/index.ts";
import { asksForCredentials, type IdPlace, needsOf, type Place, type Scheme } from "../../webhook/signature/schemes.ts";
import { identityClaimsOf } from "../../webhook/signature/shared-issuers.ts";
import { coversBody } from "../../webhook/signature/signed-text.ts";
import {
  DELIVERY_METHODS,
  type Dedupe,
  type HandshakeSettings,
  isInQuery,
  pathsOf,
  type Source,
} from "../../webhook/source.ts";
import { diskSize, duration, integer, MAX_AGE, oneOf, parsed, path, size } from "../fields.ts";
import { formatDuration, formatSize, parseDurationMs } from "../units.ts";
import { ADDRESS_KEYS, readAllowedAddresses } from "./addresses.ts";
import { CatchUpSchema, readCatchUp } from "./catch-up.ts";
import { key, keyOr, listOf, numberOrText, rateOf, TEXT, textLike } from "./fields.ts";
import { HandshakeSchema, readHandshake } from "./handshake.ts";
import { KEY_KEYS, type KeyEntry, readKeys, readOptions } from "./keys.ts";
import { PRESET } from "./preset.ts";
import { type Context, pathOfDefaultSource, type Reading } from "./reading.ts";
import { RenewSchema, readRenew } from "./renew.ts";
import { checkSharedSecrets, readSecrets } from "./source-secrets.ts";
import { readVerify, TOLERANCE, VerifySchema } from "./verify.ts";
import type { Path } from "./yaml-document.ts";

const PLACE = /^(?:header:[A-Za-z0-9!#$%&'*+.^_`|~-]+|body:.+|claim:.+)$/;

const place = textLike(PLACE, "expected body:PATH, header:NAME or claim:NAME");

const id = v.union(
  [textLike(new RegExp(`^bytes$|${PLACE.source}`), ""), v.pipe(v.array(textLike(PLACE, "")), v.minLength(2, ""))],
  "expected body:PATH, header:NAME, claim:NAME or bytes, or a list of several places",
);

const dedupe = parsed((value): Dedupe | null => {
  if (value === "bytes" || value === "id" || value === "off") return value;
  const ms = parseDurationMs(value);
  return ms !== null && ms >= 1000 && ms <= MAX_AGE.ms ? ms : null;
}, "expected bytes, id, off or a duration from 1s to 365d, e.g. 5m");

const mediaType = textLike(/^[\w.+-]+\/[\w.+-]+(?:; ?charset=[\w-]+)?$/, "expected a media type, e.g. text/xml");

const mediaRange = v.pipe(
  textLike(
    /^(?:\*\/\*|application\/\*\+json|[\w.+-]+\/(?:\*|[\w.+-]+))$/,
    "expected a media type, e.g. application/json",
  ),
  v.toLowerCase(),
);

const timeText = parsed(parseIsoTime, "expected a time, e.g. 2026-12-31T12:00:00Z");

// The forms of JSONPath and JSON Pointer would name nothing, and so redact nothing.
const REDACTED_PATH = textLike(
  /^(?![\s/]|\$(?:\.|$)|.*\[[\d*'"\]])[^.]+(?:\.[^.]+)*(?<!\s)$/,
  "expected names with dots between them, e.g. data.**.email or items.0",
);

const bodyLimit = numberOrText(size, "expected a size from 1 byte to 64m, e.g. 1m");

/** A source as it is written in the file. */
export const SourceSchema = v.strictObject(
  {
    preset: key(PRESET, "The provider that sends. `authserve sources presets` lists them."),
    verify: key(VerifySchema, "How the sender signs, if no preset fits."),
    path: key(path, "The path of the URL. Default: `/webhook/` and the name of the source."),
    secrets: key(
      listOf(TEXT, "secret", "expected a list such as [env:NAME]"),
      "Where the secrets are, the newest first: `env:NAME`, or `file:PATH` relative to this file.",
    ),
    ...KEY_KEYS,
    id: key(
      id,
      "Where the id of an event is: `body:PATH` with dots between the names, `header:NAME`, `claim:NAME` of a signed token, or `bytes` for a digest. A list is an id of several places together.",
    ),
    type: key(place, "Where the type of an event is: `body:PATH`, `header:NAME` or `claim:NAME`."),
    dedupe: key(
      dedupe,
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
      v.strictObject(
        {
          status: keyOr(numberOrText(integer(200, 299)), 200, "The status, 200 to 299."),
          type: keyOr(mediaType, "text/plain", "The media type of the body."),
          body: key(v.string("expected a text"), "The body. Default: empty."),
        },
        "expected a map such as { status: 204 }",
      ),
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
      listOf(REDACTED_PATH, "path", "expected a list such as [data.card]"),
      "Members of JSON, and fields of forms, that are replaced by `[redacted]` before anything is stored, such as `data.card`. `*` is any one name, `**` any number of names, as in `data.**.email`. A delivery that is neither JSON nor an urlencoded form is refused. See [private payloads](../private-payloads.md).",
    ),
    keepRejected: key(
      v.strictObject(
        {
          count: keyOr(numberOrText(integer(1, 100_000_000)), DEFAULT_HELD_BOUNDS.count, "How many."),
          bytes: keyOr(
            numberOrText(diskSize, "expected a size such as 64m"),
            formatSize(DEFAULT_HELD_BOUNDS.bytes),
            "How many bytes of bodies.",
          ),
          for: keyOr(duration(1000, "7d", MAX_AGE), formatDuration(DEFAULT_HELD_BOUNDS.forMs), "How long."),
        },
        "expected a map, which may be empty: {}",
      ),
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
  },
  "expected a map with preset or verify, and secrets",
);

type SourceEntry = v.InferOutput<typeof SourceSchema>;

/** Reads `sources`, whose shape is known. What is no map, which has its fault, is undefined. */
export function readSources(entries: Readonly<Record<string, unknown>>, reading: Reading): Source[] {
  const { context } = reading;
  const defaultPath = pathOfDefaultSource(context.environment);
  const paths = new Map<string, string>(defaultPath === null ? [] : [[defaultPath, DEFAULT_SOURCE_NAME]]);
  const sources = Object.entries(entries).flatMap(([name, entry]) => {
    const place = reading.at(name);
    if (defaultPath !== null && name === DEFAULT_SOURCE_NAME)
      place.fault("found a name that WEBHOOK_SECRET already makes, expected another name", "key");
    const source = entry === undefined ? null : readSource(name, entry as SourceEntry, place);
    if (source === null) return [];
    const { deliveries, check } = pathsOf(source);
    const all = [...new Set([...deliveries, check])];
    const taken = all.find((one) => paths.has(one)) ?? "";
    const other = paths.get(taken);
    if (other !== undefined) {
      const isOfEnvironment = other === DEFAULT_SOURCE_NAME && defaultPath !== null;
      const at = isOfEnvironment ? "the environment" : `line ${reading.at(other).lineOf("key")}`;
      place.at("path").fault(`found ${taken} a second time, after ${other} (${at}), expected another path`);
    }
    for (const one of all) paths.set(one, name);
    return [source];
  });
  checkSharedSecrets(sources, reading);
  return sources;
}

/** Reads a source. If its shape is wrong, only whether its secrets are there. */
function readSource(name: string, entry: SourceEntry, reading: Reading): Source | null {
  if (reading.isWrong) {
    readSecrets(entry.secrets ?? [], [], reading.at("secrets"));
    return null;
  }
  const before = reading.faults.length;
  const schemes = readSchemes(entry, reading);
  const { path, entries } = keyEntriesOf(entry);
  const secrets = readSecrets(entry.secrets ?? [], schemes, reading.at("secrets"));
  const keys = readKeys(entries, schemes, reading.at(...path));
  const options = readOptions(entry, reading);
  const allowed = readAllowedAddresses(entry, reading);
  const handshake = readHandshake(entry, reading);
  const catchUp = readCatchUp(entry, schemes, reading);
  const renew = readRenew(entry, reading);
  checkMethods(entry, handshake, reading);
  checkNeeds(entry, schemes, reading);
  checkClaims(entry, reading);
  checkAnswer(entry, reading);
  warnOfSource(entry, schemes, reading);
  const source = sourceOf(name, entry, schemes, reading.context);
  checkRedact(source, reading);
  if (reading.faults.length > before) return null;
  return {
    ...source,
    secrets,
    ...(keys.length > 0 && { keys }),
    ...(Object.keys(options).length > 0 && { options }),
    ...allowed,
    ...(handshake && { handshake }),
    ...(catchUp && { catchUp }),
    ...(renew && { renew }),
    ...defined({ expiresAt: entry.expiresAt }),
  };
}

function readSchemes({ preset, verify }: SourceEntry, reading: Reading): readonly Scheme[] {
  if ((preset === undefined) === (verify === undefined)) {
    const found = preset === undefined ? "found neither preset nor verify" : "found preset and verify";
    reading.fault(`${found}, expected one of them`);
    return [];
  }
  if (verify === undefined) return providerOf(preset)?.schemes ?? [];
  const scheme = readVerify(verify, reading.at("verify"));
  return scheme === null ? [] : [scheme];
}

/** A method can be that of deliveries or of the handshake, not both. */
function checkMethods({ methods = [] }: SourceEntry, handshake: HandshakeSettings | null, reading: Reading): void {
  const { get: GET, head: HEAD, options: OPTIONS } = handshakeOf(handshake) ?? {};
  const taken: Record<string, unknown> = { GET, HEAD, OPTIONS };
  for (const [index, method] of methods.entries())
    if (taken[method])
      reading.at("methods", index).fault(`found ${method}, by which the handshake comes, expected another method`);
}

/** Members of JSON and of forms can be redacted, but for those that make an event known. */
function checkRedact(source: Omit<Source, "secrets">, reading: Reading): void {
  const { redact, contentTypes, methods = ["POST"] } = source;
  if (redact === undefined) return;
  const place = reading.at("redact");
  const others = contentTypes.filter((type) => !isJson(type) && !isJsonLines(type) && type !== FORM);
  const wide = others.filter((type) => type.includes("*") && type !== NAMED_JSON);
  const isRedactable = others.length < contentTypes.length || wide.length > 0 || methods.some(isInQuery);
  if (!isRedactable)
    place.fault(`found at a source of ${contentTypes.join(", ")}, expected a source of JSON or forms`, "key");
  else if (others.some((type) => type !== NAMED_JSON))
    place.warn(
      `refuses deliveries of ${others.join(", ")} that are neither JSON nor an urlencoded form: nothing else can be redacted`,
    );
  const identity = redactedPlace(redact, source);
  if (identity !== undefined)
    place.fault(`found a path that has ${identity}, by which events are known, expected another path`);
}

/** Some statuses allow no body. */
function checkAnswer(
  { answer: { status, body = "" } = { status: 200, type: "" } }: SourceEntry,
  reading: Reading,
): void {
  if (body !== "" && (status === 204 || status === 205))
    reading.at("answer").fault("found a map, expected no body beside status 204 or 205");
}

function warnOfSource(entry: SourceEntry, schemes: readonly Scheme[], reading: Reading): void {
  const { preset, verify } = entry;
  if (awaitsSecret(entry))
    reading
      .at("secrets")
      .warn(`missing: deliveries are refused until it has the secret that ${preset} makes with the webhook`);
  if (verify !== undefined && !schemes.every(isBodyCovered))
    reading
      .at("verify", ...(verify.signed === undefined ? [] : ["signed"]))
      .warn("does not cover the body: anybody may send another body with it");
  // Its hash function has known weaknesses, though an HMAC with it is not known to be broken.
  if (verify?.algorithm === "md5")
    reading.at("verify", "algorithm").warn("md5 is weak: use sha256 if the sender can sign with it");
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

/** Whether a signature covers the body. That a shared secret covers nothing is clear from its type. */
function isBodyCovered(scheme: Scheme): boolean {
  if (scheme.type === "jwt") return scheme.bodyClaim !== undefined;
  return !("signed" in scheme) || coversBody(scheme);
}

/** The tokens of an issuer that signs for everybody need a claim that says whose they are. */
function checkClaims({ verify, keys = [] }: SourceEntry, reading: Reading): void {
  if (verify?.type !== "jwt") return;
  const { issuer, claims = {} } = verify;
  const issuers = [issuer ?? [], claims.iss ?? []].flat().map(String);
  const places = keys.flatMap((key) => (typeof key === "string" ? key.replace(/^url:/, "") : []));
  const identity = identityClaimsOf(issuers, places);
  if (identity === null || identity.some((name) => claims[name] !== undefined)) return;
  const found = verify.claims === undefined ? "missing" : "found without an identity";
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

function sourceOf(
  name: string,
  entry: SourceEntry,
  schemes: readonly Scheme[],
  context: Context,
): Omit<Source, "secrets"> {
  const { preset: slug, verify, keepRejected } = entry;
  const preset = providerOf(slug) ?? NO_PRESET;
  const toleranceMs = verify?.tolerance ?? entry.tolerance;
  return {
    name,
    path: entry.path ?? `/webhook/${name}`,
    preset: slug ?? null,
    ...(preset.subPaths && { subPaths: preset.subPaths }),
    schemes,
    ...(toleranceMs !== undefined && { toleranceSeconds: Math.floor(toleranceMs / 1000) }),
    id: [...(entry.id === undefined ? [] : [idOf(entry.id)]), ...(preset.id ?? [])],
    type: [...(entry.type === undefined ? [] : [placeOf(entry.type)]), ...(preset.type ?? [])],
    dedupe: entry.dedupe ?? preset.dedupe?.mode ?? "bytes",
    contentTypes: entry.contentTypes ?? preset.contentTypes ?? (slug === undefined ? ANY_JSON : ["application/json"]),
    ...defined({ encoding: entry.encoding ?? preset.encoding, signedOver: signedOverOf(entry, preset) }),
    isEnvelope: preset.isEnvelope ?? false,
    addressMode: entry.addressMode,
    bodyLimitBytes: entry.bodyLimit ?? limitOf(preset, context.bodyLimitBytes),
    ...defined({
      keepRejected: keepRejected && { count: keepRejected.count, bytes: keepRejected.bytes, forMs: keepRejected.for },
      expectEveryMs: entry.expectEvery,
      rate: entry.rate,
      methods: entry.methods,
      retireMs: entry.retire,
      redact: entry.redact?.map(namesOfPath),
    }),
    ...(asksForCredentials(schemes) ? { refusedStatus: 401 } : defined({ refusedStatus: preset.refusedStatus })),
    ...(preset.needsEmptyAnswers && { needsEmptyAnswers: true }),
    ...acknowledgementOf(entry, preset),
  };
}

function acknowledgementOf(
  { answer }: SourceEntry,
  { acknowledgement }: Partial<Provider>,
): Pick<Source, "acknowledgement"> {
  if (answer === undefined) return acknowledgement ? { acknowledgement: { status: 200, ...acknowledgement } } : {};
  const { status, type, body = "" } = answer;
  return { acknowledgement: { status, type, text: body } };
}

function signedOverOf({ signedOver: given }: SourceEntry, preset: Partial<Provider>): "encoded" | undefined {
  return (given ?? preset.signedOver) === "encoded" ? "encoded" : undefined;
}

/** The usual limit, or the largest body that the provider sends. */
function limitOf({ facts }: Partial<Provider>, usual: number): number {
  return Math.max(usual, facts?.maxBodyBytes?.is ?? 0);
}

/** The place that an entry names. Names of headers are in lower case. */
const placeOf = (place: string) => (place.startsWith("header:") ? place.toLowerCase() : place) as Place;

/** Where the id is that an entry names. */
function idOf(id: string | string[]): IdPlace | "bytes" {
  if (typeof id !== "string") return id.map(placeOf);
  return id === "bytes" ? id : placeOf(id);
}
