import { createHash } from "node:crypto";
import { providerOf } from "../../webhook/providers/index.ts";
import { markOf } from "../../webhook/secrets/secret-mark.ts";
import { DEFAULT_REFRESH_MS, type KeySet, openKeySetCopies } from "../../webhook/signature/key-set.ts";
import {
  fingerprintOf,
  type IdentifiedKey,
  type PublicKey,
  readPublicKeys,
} from "../../webhook/signature/public-key.ts";
import { keyTypesOf, type Scheme } from "../../webhook/signature/schemes.ts";
import type { Options } from "../../webhook/signature/signed-text.ts";
import { documentUrl, nameOfUrl } from "./document-url.ts";
import type { PathFault } from "./faults.ts";
import type { EntryContext } from "./reading.ts";
import type { SourceEntry } from "./schema.ts";
import { readSecretRef } from "./secret-refs.ts";

type KeyEntry = NonNullable<SourceEntry["keys"]>[number];

const isReference = (text: string) => /^(?:env|file):/.test(text);

/** Public keys as they are written, and the path of their list below the source. */
export interface KeyEntries {
  path: readonly string[];
  entries: readonly KeyEntry[];
}

/** Reads the public keys of a source: each as it is, or at a reference. */
export function readKeys({ path: list, entries }: KeyEntries, schemes: readonly Scheme[], context: EntryContext) {
  const keys: PublicKey[] = [];
  const faults: PathFault[] = [];
  const warnings: PathFault[] = [];
  for (const [index, entry] of entries.entries()) {
    const path = [...list, index];
    const read = readKey(entry, context);
    const fault = "fault" in read ? read.fault : typeFault(read, schemes);
    if ("fault" in read || fault !== null) {
      faults.push({ path, message: fault as string });
      continue;
    }
    const ended = read.keys.find(({ endsAt }) => endsAt !== null && endsAt < Date.now());
    if (ended)
      warnings.push({ path, message: `${read.name} is a certificate that has ended: take the sender's new one` });
    keys.push(read);
  }
  return { keys, faults, warnings };
}

const EXPECTED = "expected one in hex, base64, PEM or JWK";

function readKey(entry: KeyEntry, context: EntryContext): PublicKey | { fault: string } {
  const given = typeof entry === "string" ? entry : JSON.stringify(entry);
  if (given.startsWith("url:")) return readKeySet(given.slice("url:".length), context);
  if (/^https?:/.test(given)) return { fault: "found a URL without url: before it, expected url:https://HOST/PATH" };
  const read = isReference(given) ? readSecretRef(given, context) : null;
  if (read !== null && "fault" in read) return read;
  const text = read?.secret.value ?? given;
  if (/PRIVATE KEY|^whsk_/.test(text)) return { fault: "found a private key, expected the public one of the sender" };
  const keys = readPublicKeys(text);
  const [first] = keys ?? [];
  if (keys === null || first === undefined) {
    const found = read === null ? "a text that" : `${given}, whose value`;
    return { fault: `found ${found} is no public key, ${EXPECTED}` };
  }
  return { name: read === null ? fingerprintOf(first) : given, mark: markOf(text), keys };
}

/** The set at a URL, with its last good keys. It is not fetched. */
function readKeySet(text: string, { dataDir }: EntryContext): PublicKey | { fault: string } {
  const url = documentUrl(text, "the keys");
  if (typeof url === "string") return { fault: url };
  if (url.hash !== "") return { fault: "found a URL with a fragment, expected one without" };
  const { href: place } = url;
  const id = createHash("sha256").update(place).digest("hex").slice(0, 32);
  const set: KeySet = { id, name: nameOfUrl(url), kind: "url", place, refreshMs: DEFAULT_REFRESH_MS };
  return { name: `url:${set.name}`, mark: markOf(place), keys: openKeySetCopies(dataDir).read(set)?.keys ?? [], set };
}

/** What is wrong with the types of keys; null if one of them fits a scheme, or they are not known before the start. */
function typeFault({ keys, set }: PublicKey, schemes: readonly Scheme[]): string | null {
  if (schemes.some(({ type }) => type === "jws") && !keys.some(({ certificate }) => certificate))
    return "found no certificate, expected the root of the sender's certificates, in PEM";
  if (set) return null;
  const wanted = [...new Set(schemes.flatMap(keyTypesOf))];
  const isWanted = ({ key }: IdentifiedKey) => wanted.includes(key.asymmetricKeyType ?? "");
  if (wanted.length === 0 || keys.some(isWanted)) return null;
  return `found a key of the type ${keys[0]?.key.asymmetricKeyType}, expected ${wanted.join(" or ")}`;
}

/** Reads the options that the preset of a source needs. */
export function readOptions({ preset, options = {} }: SourceEntry, context: EntryContext) {
  const needed = providerOf(preset)?.options ?? {};
  const read: Record<string, string> = {};
  const faults: PathFault[] = [];
  const warnings: PathFault[] = [];
  for (const [name, text] of Object.entries(options)) {
    const path = ["options", name];
    if (!Object.hasOwn(needed, name)) {
      const names = Object.keys(needed).join(", ") || "none";
      faults.push({ path, at: "key", message: `found an unknown option, expected ${names}` });
      continue;
    }
    const value = isReference(text) ? readSecretRef(text, context) : null;
    if (value !== null && "fault" in value) faults.push({ path, message: value.fault });
    else read[name] = value?.secret.value ?? text;
  }
  for (const [name, { is, without, default: usual }] of Object.entries(needed)) {
    if (Object.hasOwn(options, name)) continue;
    if (usual !== undefined) read[name] = usual;
    else if (without === undefined) faults.push({ path: ["options", name], message: `missing, expected ${is}` });
    else warnings.push({ path: [], message: `options.${name} is not set: ${without}. Set it to ${is}` });
  }
  return { options: read as Options, faults, warnings };
}
