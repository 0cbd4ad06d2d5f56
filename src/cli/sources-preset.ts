import { OperatorError } from "../errors.ts";
import type { Provider } from "../webhook/provider.ts";
import { FACT_NAMES } from "../webhook/provider-facts.ts";
import { providerOf } from "../webhook/providers/index.ts";
import { printData, printJson } from "./output.ts";
import { needsOfProvider, noteOn, refusedStatusOf, remedyForPreset } from "./preset-words.ts";
import { styled } from "./table.ts";

/** Prints all that is known of a preset. */
export async function runSourcesPreset(name: string, { json }: { json?: boolean }): Promise<void> {
  const provider = providerOf(name);
  if (!provider) {
    const remedy = remedyForPreset(name.toLowerCase());
    throw new OperatorError({ found: `There is no preset ${name}`, remedy });
  }
  const all = describe(name, provider);
  if (json) return printJson(all);
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
