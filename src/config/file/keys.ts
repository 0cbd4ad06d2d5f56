import * as v from "valibot";
import { providerOf } from "../../webhook/providers/index.ts";
import { DEFAULT_REFRESH_MS, type KeySet, openKeySetCopies } from "../../webhook/signature/key-sets.ts";
import {
  fingerprintOf,
  type IdentifiedKey,
  type PublicKey,
  readPublicKeys,
} from "../../webhook/signature/public-key.ts";
import { keyTypesOf, type Scheme } from "../../webhook/signature/schemes.ts";
import { markOf } from "../../webhook/signature/secret.ts";
import type { Options } from "../../webhook/signature/signed-text.ts";
import { documentId, documentUrl, nameOfUrl } from "./document-url.ts";
import { key, listOf, TEXT } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secrets.ts";
import { mapOf } from "./shape.ts";

const publicKey = v.union([TEXT, v.record(v.string(), v.unknown())], "expected a public key");

/** The keys of a source that say what verifies it besides secrets. */
export const KEY_KEYS = {
  keys: key(
    listOf(publicKey, "public key", "expected a list such as [env:NAME]"),
    "The sender's public keys, the newest first: hex, base64, `whpk_…`, PEM or JWK, as it is or at `env:NAME` or `file:PATH`; or a set of them at `url:https://…`, which is fetched and refreshed. Default: the provider's URL, if the preset has one.",
  ),
  options: key(
    mapOf(v.string(), TEXT, "expected a map of names and texts"),
    "What the preset needs besides, each as it is or at `env:NAME` or `file:PATH`: see `authserve sources presets`.",
  ),
};

/** A public key as it is written, or where it is. */
export type KeyEntry = v.InferOutput<typeof publicKey>;

const isReference = (text: string) => /^(?:env|file):/.test(text);

/** Reads a list of public keys: each as it is, or at a reference. */
export function readKeys(entries: readonly KeyEntry[], schemes: readonly Scheme[], reading: Reading): PublicKey[] {
  return entries.flatMap((entry, index) => {
    const place = reading.at(index);
    const read = readKey(entry, place);
    if (read === null) return [];
    const fault = typeFault(read, schemes);
    if (fault !== null) place.fault(fault);
    else if (read.keys.some(({ endsAt }) => endsAt !== null && endsAt < Date.now()))
      place.warn(`${read.name} is a certificate that has ended: take the sender's new one`);
    return read;
  });
}

const EXPECTED = "expected one in hex, base64, PEM or JWK";

function readKey(entry: KeyEntry, reading: Reading): PublicKey | null {
  const given = typeof entry === "string" ? entry : JSON.stringify(entry);
  if (given.startsWith("url:")) return readKeySet(given.slice("url:".length), reading);
  if (/^https?:/.test(given))
    return reading.fault("found a URL without url: before it, expected url:https://HOST/PATH");
  const text = readText(given, reading);
  if (text === null) return null;
  if (/PRIVATE KEY|^whsk_/.test(text))
    return reading.fault("found a private key, expected the public one of the sender");
  const keys = readPublicKeys(text);
  const [first] = keys ?? [];
  if (keys === null || first === undefined) {
    const found = isReference(given) ? `${given}, whose value` : "a text that";
    return reading.fault(`found ${found} is no public key, ${EXPECTED}`);
  }
  return { name: isReference(given) ? given : fingerprintOf(first), mark: markOf(text), keys };
}

/** A text as it is, or what a reference has. */
function readText(given: string, reading: Reading): string | null {
  return isReference(given) ? (readSecretRef(given, reading)?.value ?? null) : given;
}

/** The set at a URL, with its last good keys. It is not fetched. */
function readKeySet(text: string, reading: Reading): PublicKey | null {
  const url = documentUrl(text, "the keys", reading);
  if (url === null) return null;
  if (url.hash !== "") return reading.fault("found a URL with a fragment, expected one without");
  const { href: place } = url;
  const id = documentId(place);
  const set: KeySet = { id, name: nameOfUrl(url), kind: "url", place, refreshMs: DEFAULT_REFRESH_MS };
  const keys = openKeySetCopies(reading.context.dataDir).read(set)?.keys ?? [];
  return { name: `url:${set.name}`, mark: markOf(place), keys, set };
}

/** What is wrong with the types of keys; null if one of them fits a scheme, or they are not known before the start. */
function typeFault({ keys, set }: PublicKey, schemes: readonly Scheme[]): string | null {
  if (
    schemes.some((scheme) => scheme.type === "jws" && !scheme.isKeyed) &&
    !keys.some(({ certificate }) => certificate)
  )
    return "found no certificate, expected the root of the sender's certificates, in PEM";
  if (set) return null;
  const wanted = [...new Set(schemes.flatMap(keyTypesOf))];
  const isWanted = ({ key }: IdentifiedKey) => wanted.includes(key.asymmetricKeyType ?? "");
  if (wanted.length === 0 || keys.some(isWanted)) return null;
  return `found a key of the type ${keys[0]?.key.asymmetricKeyType}, expected ${wanted.join(" or ")}`;
}

interface OptionsEntry {
  preset?: string | undefined;
  options?: Readonly<Record<string, string>> | undefined;
}

/** Reads the options that the preset of a source needs. */
export function readOptions({ preset, options = {} }: OptionsEntry, reading: Reading): Options {
  const needed = providerOf(preset)?.options ?? {};
  const read: Record<string, string> = {};
  for (const [name, given] of Object.entries(options)) {
    const place = reading.at("options", name);
    if (Object.hasOwn(needed, name)) read[name] = readText(given, place) ?? "";
    else place.fault(`found an unknown option, expected ${Object.keys(needed).join(", ") || "none"}`, "key");
  }
  for (const [name, { is, without, default: usual }] of Object.entries(needed)) {
    if (Object.hasOwn(options, name)) continue;
    if (usual !== undefined) read[name] = usual;
    else if (without === undefined) reading.at("options", name).fault(`missing, expected ${is}`);
    else reading.warn(`options.${name} is not set: ${without}. Set it to ${is}`);
  }
  return read;
}
