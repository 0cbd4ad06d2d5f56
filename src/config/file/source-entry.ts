import { defined } from "../../lib/defined.ts";
import { NAMED_JSON } from "../../lib/header-value.ts";
import { makesSecret } from "../../webhook/handshakes/kind.ts";
import { methodsOf } from "../../webhook/handshakes/requests.ts";
import { DEFAULT_HELD_BOUNDS, type HeldBounds } from "../../webhook/held/held-store.ts";
import type { Provider } from "../../webhook/provider.ts";
import { providerOf } from "../../webhook/providers/index.ts";
import { asksForCredentials, type IdPlace, needsOf, type Place, type Scheme } from "../../webhook/signature/schemes.ts";
import { identityClaimsOf } from "../../webhook/signature/shared-issuers.ts";
import { coversBody } from "../../webhook/signature/signed-text.ts";
import type { Handshake, Secret, Source } from "../../webhook/source.ts";
import { readAllowedAddresses } from "./address-entry.ts";
import { describedScheme } from "./described-scheme.ts";
import type { PathFault } from "./faults.ts";
import { readHandshake } from "./handshake-entry.ts";
import { type KeyEntries, readKeys, readOptions } from "./key-refs.ts";
import type { EntryContext } from "./reading.ts";
import type { SourceEntry } from "./schema.ts";
import { formFault, readSecretRef } from "./secret-refs.ts";

/** A source, or why it cannot be one. Paths are below the source. */
export interface ReadEntry {
  source: Source | null;
  faults: PathFault[];
  warnings: PathFault[];
}

/** Makes the source of an entry whose shape is right. */
export function readEntry(name: string, entry: SourceEntry, context: EntryContext): ReadEntry {
  const { schemes, faults: unknown } = schemesOf(entry);
  const { secrets, ...ofSecrets } = readSecrets(entry.secrets ?? [], schemes, context);
  const { keys, ...ofKeys } = readKeys(keyEntriesOf(entry), schemes, context);
  const { options, ...ofOptions } = readOptions(entry, context);
  const { allowed, ...ofAddresses } = readAllowedAddresses(entry, context);
  const { handshake, ...ofHandshake } = readHandshake(entry, context);
  const ofMethods = { faults: methodFaults(entry, handshake), warnings: [] };
  const read = [ofSecrets, ofKeys, ofOptions, ofAddresses, ofHandshake, ofMethods];
  const faults = [
    ...unknown,
    ...needFaults(entry, schemes),
    ...claimFaults(entry),
    ...read.flatMap((part) => part.faults),
  ];
  const warnings = [
    ...secretWarnings(entry),
    ...coverWarnings(entry, schemes),
    ...algorithmWarnings(entry),
    ...read.flatMap((part) => part.warnings),
  ];
  if (faults.length > 0) return { source: null, faults, warnings };
  const source = {
    ...sourceOf(name, entry, schemes, context),
    secrets,
    ...(keys.length > 0 && { keys }),
    ...(Object.keys(options).length > 0 && { options }),
    ...allowed,
    ...(handshake && { handshake }),
  };
  return { source, faults, warnings };
}

/** A method can be that of deliveries or of the handshake, not both. */
function methodFaults({ methods = [] }: SourceEntry, handshake: Handshake | undefined): PathFault[] {
  const taken = handshake ? methodsOf(handshake.kind) : [];
  return methods.flatMap((method, index) =>
    taken.includes(method)
      ? [
          {
            path: ["methods", index],
            message: `found ${method}, by which the handshake comes, expected another method`,
          },
        ]
      : [],
  );
}

/** The public keys of a source, and where they are in its entry. */
function keyEntriesOf({ keys, verify, ...rest }: SourceEntry): KeyEntries {
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
  return secrets === undefined && handshake === true && makesSecret(providerOf(preset)?.handshake);
}

function secretWarnings(entry: SourceEntry): PathFault[] {
  if (!awaitsSecret(entry)) return [];
  const message = `missing: deliveries are refused until it has the secret that ${entry.preset} makes with the webhook`;
  return [{ path: ["secrets"], message }];
}

/** Warns of a described signature that does not cover the body. */
function coverWarnings({ verify }: SourceEntry, schemes: readonly Scheme[]): PathFault[] {
  if (verify === undefined || schemes.every(isBodyCovered)) return [];
  const path = ["verify", ...(verify.signed === undefined ? [] : ["signed"])];
  return [{ path, message: "does not cover the body: anybody may send another body with it" }];
}

/** Warns of a hash function that has known weaknesses, though an HMAC with it is not known to be broken. */
function algorithmWarnings({ verify }: SourceEntry): PathFault[] {
  if (verify?.algorithm !== "md5") return [];
  return [{ path: ["verify", "algorithm"], message: "md5 is weak: use sha256 if the sender can sign with it" }];
}

/** Whether a signature covers the body. That a shared secret covers nothing is clear from its type. */
function isBodyCovered(scheme: Scheme): boolean {
  if (scheme.type === "jwt") return scheme.bodyClaim !== undefined;
  return !("signed" in scheme) || coversBody(scheme);
}

/** What a described token of an issuer that signs for everybody does not require. */
function claimFaults({ verify, keys = [] }: SourceEntry): PathFault[] {
  if (verify?.type !== "jwt") return [];
  const { issuer, claims = {} } = verify;
  const issuers = [issuer ?? [], claims.iss ?? []].flat().map(String);
  const places = keys.flatMap((key) => (typeof key === "string" ? key.replace(/^url:/, "") : []));
  const identity = identityClaimsOf(issuers, places);
  if (identity === null || identity.some((name) => claims[name] !== undefined)) return [];
  const found = verify.claims === undefined ? "missing" : "found without an identity";
  const message = `${found}, expected ${identity.join(" or ")}: anybody gets tokens of this issuer, for any audience`;
  return [{ path: ["verify", "claims"], message }];
}

/** What is wrong about which of secrets and keys the entry has. */
function needFaults(entry: SourceEntry, schemes: readonly Scheme[]): PathFault[] {
  const { secrets, keys = keyEntriesOf(entry).entries.length > 0 ? [] : undefined, verify } = entry;
  if (verify?.roots && entry.keys)
    return [{ path: ["keys"], at: "key", message: "found beside verify.roots, expected nothing" }];
  const [need, other] = new Set(schemes.map(needsOf));
  // Without a scheme there is a fault already, and with both kinds any of them is right.
  if (need === undefined) return [];
  if (other !== undefined) {
    if (secrets !== undefined || keys !== undefined) return [];
    return [{ path: [], message: "found neither secrets nor keys, expected one of them" }];
  }
  const [given, extra] = need === "secrets" ? [secrets, keys] : [keys, secrets];
  const faults: PathFault[] = [];
  if (given === undefined && !awaitsSecret(entry))
    faults.push({ path: [need], message: `missing, expected ${EXPECTED[need]}` });
  if (extra !== undefined) {
    const path = [need === "secrets" ? "keys" : "secrets"];
    faults.push({ path, at: "key", message: `found where only ${need} are used, expected nothing` });
  }
  return faults;
}

const EXPECTED = {
  secrets: "a list such as [env:NAME]",
  keys: "the public keys of the sender, in a list such as [env:NAME]",
};

/** Reads the secrets of a source. */
export function readSecrets(references: readonly string[], schemes: readonly Scheme[], context: EntryContext) {
  const warnings: PathFault[] = [];
  const faults: PathFault[] = [];
  const secrets: Secret[] = [];
  for (const [index, reference] of references.entries()) {
    const read = readSecret(reference, schemes, context);
    const path = ["secrets", index];
    if ("fault" in read) {
      faults.push({ path, message: read.fault });
      continue;
    }
    warnings.push(...read.warnings.map((message) => ({ path, message: `${read.secret.name} ${message}` })));
    if (secrets.some(({ value }) => value === read.secret.value)) {
      faults.push({ path, message: "found the same secret twice, expected different ones" });
    }
    secrets.push(read.secret);
  }
  return { secrets, faults, warnings };
}

function schemesOf({ preset, verify }: SourceEntry): { schemes: readonly Scheme[]; faults: PathFault[] } {
  if ((preset === undefined) === (verify === undefined)) {
    const found = preset === undefined ? "found neither preset nor verify" : "found preset and verify";
    return { schemes: [], faults: [{ path: [], message: `${found}, expected one of them` }] };
  }
  if (verify === undefined) return { schemes: providerOf(preset)?.schemes ?? [], faults: [] };
  const described = describedScheme(verify);
  if ("scheme" in described) return { schemes: [described.scheme], faults: [] };
  return { schemes: [], faults: described.faults.map((fault) => ({ ...fault, path: ["verify", ...fault.path] })) };
}

function readSecret(reference: string, schemes: readonly Scheme[], context: EntryContext) {
  const read = readSecretRef(reference, context);
  if ("fault" in read) return read;
  const { name, value } = read.secret;
  // Everybody has the public key, and could sign with it as a secret.
  if (/^wh[ps]k_|^-----BEGIN |^\{.*"kty"/s.test(value))
    return { fault: `found ${name}, whose value is a key, expected a secret: public keys belong to keys` };
  const fault = schemes.length === 0 ? null : formFault(read.secret, schemes);
  return fault === null ? read : { fault };
}

const NO_PRESET: Partial<Provider> = {};

/** What a sender without a preset may send, unless the source says otherwise. */
const ANY_JSON = ["application/json", NAMED_JSON];

function sourceOf(
  name: string,
  entry: SourceEntry,
  schemes: readonly Scheme[],
  context: EntryContext,
): Omit<Source, "secrets"> {
  const { preset: slug, verify } = entry;
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
    addressMode: entry.addressMode ?? "enforce",
    bodyLimitBytes: entry.bodyLimit ?? limitOf(preset, context.bodyLimitBytes),
    ...(entry.keepRejected !== undefined && { keepRejected: boundsOf(entry.keepRejected) }),
    ...(entry.expectEvery !== undefined && { expectEveryMs: entry.expectEvery }),
    ...(entry.methods !== undefined && { methods: entry.methods }),
    ...(asksForCredentials(schemes) ? { refusedStatus: 401 } : defined({ refusedStatus: preset.refusedStatus })),
    ...(preset.needsEmptyAnswers && { needsEmptyAnswers: true }),
    ...acknowledgementOf(entry, preset),
    ...(entry.retire !== undefined && { retireMs: entry.retire }),
  };
}

function acknowledgementOf(
  { answer }: SourceEntry,
  { acknowledgement }: Partial<Provider>,
): Pick<Source, "acknowledgement"> {
  if (answer === undefined) return acknowledgement ? { acknowledgement: { status: 200, ...acknowledgement } } : {};
  const { status = 200, type = "text/plain", body = "" } = answer;
  return { acknowledgement: { status, type, text: body } };
}

function signedOverOf({ signedOver: given }: SourceEntry, preset: Partial<Provider>): "encoded" | undefined {
  return (given ?? preset.signedOver) === "encoded" ? "encoded" : undefined;
}

/** The usual limit, or the largest body that the provider sends. */
function limitOf({ facts }: Partial<Provider>, usual: number): number {
  return Math.max(usual, facts?.maxBodyBytes?.is ?? 0);
}

function boundsOf({ count, bytes, for: forMs }: NonNullable<SourceEntry["keepRejected"]>): HeldBounds {
  return { ...DEFAULT_HELD_BOUNDS, ...defined({ count, bytes, forMs }) };
}

/** The place that an entry names. Names of headers are in lower case. */
const placeOf = (place: string) => (place.startsWith("header:") ? place.toLowerCase() : place) as Place;

/** Where the id is that an entry names. */
function idOf(id: string | string[]): IdPlace | "bytes" {
  if (typeof id !== "string") return id.map(placeOf);
  return id === "bytes" ? id : placeOf(id);
}
