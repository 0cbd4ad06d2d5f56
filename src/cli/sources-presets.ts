import { OperatorError } from "../errors.ts";
import { FACT_NAMES, type Provider } from "../webhook/provider.ts";
import { allProviders, PROVIDER_NAMES, providerOf } from "../webhook/providers/index.ts";
import { asksForCredentials, needsOf, type Scheme } from "../webhook/signature/schemes.ts";
import { remedyForName } from "./option-values.ts";
import { printData, printJson, say } from "./output.ts";
import { printTable, styled } from "./table.ts";

interface PresetOptions {
  json?: boolean;
}

/** Prints the presets with what proves each of them, or all that is known of one. */
export function runSourcesPresets(name: string | undefined, options: PresetOptions): void {
  if (name === undefined) printAll(options);
  else printOne(name, options);
}

function printAll({ json }: PresetOptions): void {
  const presets = allProviders().map(([name, provider]) => {
    const { title, schemes, covers, docs, handshake = null, evidence, aliasOf = null } = provider;
    const needs = needsOfProvider(provider);
    const type = schemes[0]?.type ?? "hmac";
    return {
      name,
      title,
      aliasOf,
      type,
      needs,
      covers,
      handshake: handshake !== null,
      evidence: evidence.kind,
      docs,
      provedBy: evidence.by,
    };
  });
  if (json) {
    printJson(presets);
    return;
  }
  printTable(
    [
      "NAME",
      "TITLE",
      "TYPE",
      "NEEDS",
      "COVERS",
      { heading: "EVIDENCE", leastWidth: 9 },
      { heading: "DOCS", leastWidth: 12 },
    ],
    presets.map(({ name, title, type, needs, covers, evidence, docs }) => [
      name,
      title,
      type,
      needs.join(" and ") || "nothing",
      covers,
      evidence,
      docs,
    ]),
  );
  const count = (kind: string) => presets.filter(({ evidence }) => evidence === kind).length;
  say(
    `${presets.length} presets: ${["published", "sdk", "self-signed"].map((kind) => `${count(kind)} ${kind}`).join(", ")}.`,
  );
}

function printOne(name: string, { json }: PresetOptions): void {
  const provider = providerOf(name);
  if (!provider) {
    const remedy = remedyForPreset(name.toLowerCase());
    throw new OperatorError({ found: `There is no preset ${name}`, remedy });
  }
  const all = describe(name, provider);
  if (json) {
    printJson(all);
    return;
  }
  const { facts, ...described } = all;
  for (const [label, value] of Object.entries(described)) printLine(label, textOf(value));
  for (const [label, fact] of Object.entries(facts)) printLine(label, fact ? textOf(fact) : "unknown");
}

const WIDTH = 18;

function printLine(label: string, text: string): void {
  printData(styled("bold", label.padEnd(WIDTH)) + text);
}

/** What nobody has published is null. */
function describe(name: string, provider: Provider) {
  const { title, docs, schemes, covers, evidence } = provider;
  return {
    name,
    title,
    aliasOf: provider.aliasOf ?? null,
    docs,
    types: [...new Set(schemes.map(({ type }) => type))],
    needs: needsOfProvider(provider),
    keysUrl: provider.keysUrl ?? null,
    covers,
    note: noteOn(schemes),
    id: (provider.id ?? []).map((place) => [place].flat().join(" + ")),
    type: (provider.type ?? []).map((place) => [place].flat().join(" + ")),
    dedupe: provider.dedupe ?? { mode: "bytes", why: null, source: null },
    contentTypes: provider.contentTypes ?? ["application/json"],
    encoding: provider.encoding ?? [],
    signedOver: provider.encoding ? (provider.signedOver ?? "plain") : null,
    handshake: provider.handshake?.kind ?? null,
    subPaths: provider.subPaths ?? null,
    answer: answerOf(provider),
    refusedStatus: refusedStatusOf(provider),
    evidence: evidence.kind,
    provedBy: evidence.by,
    facts: Object.fromEntries(FACT_NAMES.map((fact) => [fact, provider.facts?.[fact] ?? null])),
  };
}

function answerOf({ acknowledgement, needsEmptyAnswers }: Provider): string | null {
  if (needsEmptyAnswers) return "empty";
  if (!acknowledgement) return null;
  const { status = 200, type, text } = acknowledgement;
  return text === "" ? `${status}, empty` : `${type}: ${text}`;
}

/** A fact for a person. A list has commas, and what is not known a dash. */
function textOf(value: unknown): string {
  if (value === null) return "-";
  if (Array.isArray(value) && value.length === 0) return "none";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object") return String(value);
  const parts = Object.values(value).filter((part) => part !== null);
  return parts.map(textOf).join("; ");
}

/** What to do about a name that is none of a preset. */
export function remedyForPreset(name: string): string {
  return remedyForName(name, PROVIDER_NAMES, "authserve sources presets");
}

/** What a source of a provider sets: secrets or keys, unless the keys are known or fetched, and options. */
export function needsOfProvider({ schemes, options = {}, keysUrl, keys }: Provider): string[] {
  const credentials = [...new Set(schemes.map(needsOf))].sort().reverse().join(" or ");
  return [...(keysUrl === undefined && keys === undefined ? [credentials] : []), ...Object.keys(options)];
}

/** The status of a delivery that is not genuine. */
export function refusedStatusOf({ schemes, refusedStatus }: Provider): 401 | 403 {
  return asksForCredentials(schemes) ? 401 : (refusedStatus ?? 403);
}

/** What an operator must know of a sender that signs nothing; null for others. */
export function noteOn(schemes: readonly Scheme[]): string | null {
  if (schemes.some(({ type }) => type !== "token")) return null;
  const isInUrl = schemes.every((scheme) => "query" in scheme || "path" in scheme);
  return `It signs nothing. Only the secret in ${isInUrl ? "the URL" : "each delivery"} protects it.`;
}
