import { defined } from "../../lib/defined.ts";
import type { HeldBounds } from "../../webhook/held-store.ts";
import { PRESETS } from "../../webhook/presets/index.ts";
import type { Preset } from "../../webhook/presets/preset.ts";
import type { Place, Scheme } from "../../webhook/schemes.ts";
import type { Secret, Source } from "../../webhook/source.ts";
import { describedScheme } from "./described-scheme.ts";
import type { PathFault } from "./faults.ts";
import type { EntryContext } from "./reading.ts";
import type { SourceEntry } from "./schema.ts";
import { formFault, readSecretRef } from "./secret-refs.ts";

/** A source, or why it cannot be one. Paths are below the source. */
export interface ReadEntry {
  source: Source | null;
  faults: PathFault[];
  warnings: PathFault[];
}

// Their events are checked like those of the source `default`.
const ENVELOPES = ["stripe", "openai"];

/** Makes the source of an entry whose shape is right. */
export function readEntry(name: string, entry: SourceEntry, context: EntryContext): ReadEntry {
  const faults: PathFault[] = [];
  const schemes = schemesOf(entry, faults);
  const read = readSecrets(entry.secrets, schemes, context);
  const { secrets, warnings } = read;
  faults.push(...read.faults);
  const covered = schemes.every((scheme) => scheme.type !== "hmac" || /\{(?:body|form)\}/.test(scheme.signed));
  if (entry.verify && !covered) {
    warnings.push({
      path: ["verify", "signed"],
      message: "does not cover the body: anybody may send another body with it",
    });
  }
  return { source: faults.length > 0 ? null : sourceOf(name, entry, schemes, secrets, context), faults, warnings };
}

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

function schemesOf({ preset, verify }: SourceEntry, faults: PathFault[]): readonly Scheme[] {
  if ((preset === undefined) === (verify === undefined)) {
    const found = preset === undefined ? "found neither preset nor verify" : "found preset and verify";
    faults.push({ path: [], message: `${found}, expected one of them` });
    return [];
  }
  if (verify === undefined) return PRESETS[preset as string]?.schemes ?? [];
  const described = describedScheme(verify);
  if ("scheme" in described) return [described.scheme];
  faults.push(...described.faults.map((fault) => ({ ...fault, path: ["verify", ...fault.path] })));
  return [];
}

function readSecret(reference: string, schemes: readonly Scheme[], context: EntryContext) {
  const read = readSecretRef(reference, context);
  if ("fault" in read) return read;
  const fault = schemes.length === 0 ? null : formFault(read.secret, schemes);
  return fault === null ? read : { fault };
}

const NO_PRESET: Partial<Preset> = {};

function sourceOf(
  name: string,
  entry: SourceEntry,
  schemes: readonly Scheme[],
  secrets: readonly Secret[],
  context: EntryContext,
): Source {
  const { preset: slug, verify, allowedAddresses } = entry;
  const preset = (slug === undefined ? undefined : PRESETS[slug]) ?? NO_PRESET;
  const toleranceMs = verify?.tolerance ?? entry.tolerance;
  return {
    name,
    path: entry.path ?? `/webhook/${name}`,
    preset: slug ?? null,
    secrets,
    schemes,
    ...(toleranceMs !== undefined && { toleranceSeconds: Math.floor(toleranceMs / 1000) }),
    id: [...placesOf(entry.id), ...(preset.id ?? [])],
    type: [...(placesOf(entry.type) as Place[]), ...(preset.type ?? [])],
    dedupe: entry.dedupe ?? "bytes",
    contentTypes: entry.contentTypes ?? preset.contentTypes ?? ["application/json"],
    isEnvelope: slug !== undefined && ENVELOPES.includes(slug),
    ...(allowedAddresses && { allowedAddresses }),
    addressMode: entry.addressMode ?? "enforce",
    bodyLimitBytes: entry.bodyLimit ?? preset.bodyLimitBytes ?? context.bodyLimitBytes,
    ...(entry.keepRejected !== undefined && { keepRejected: boundsOf(entry.keepRejected) }),
    ...(entry.expectEvery !== undefined && { expectEveryMs: entry.expectEvery }),
  };
}

const DEFAULT_BOUNDS: HeldBounds = { count: 1000, bytes: 64 * 1024 ** 2, forMs: 7 * 86_400_000 };

function boundsOf({ count, bytes, for: forMs }: NonNullable<SourceEntry["keepRejected"]>): HeldBounds {
  return { ...DEFAULT_BOUNDS, ...defined({ count, bytes, forMs }) };
}

/** The place that an entry names. Names of headers are in lower case. */
function placesOf(place: string | undefined): (Place | "bytes")[] {
  if (place === undefined) return [];
  return [(place.startsWith("header:") ? place.toLowerCase() : place) as Place | "bytes"];
}
