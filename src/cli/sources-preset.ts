import { OperatorError } from "../errors.ts";
import type { Provider } from "../webhook/provider.ts";
import { providerOf } from "../webhook/providers/index.ts";
import { printData, printJson } from "./output.ts";
import { needsOfProvider, remedyForPreset } from "./preset-words.ts";
import { styled } from "./table.ts";

/** Prints all that is known of a preset. */
export async function runSourcesPreset(name: string, { json }: { json?: boolean }): Promise<void> {
  const provider = providerOf(name);
  if (!provider) {
    const remedy = remedyForPreset(name.toLowerCase());
    throw new OperatorError({ found: `There is no preset ${name}`, remedy });
  }
  const facts = factsOf(name, provider);
  if (json) return printJson(facts);
  for (const [fact, value] of Object.entries(facts)) printData(styled("bold", fact.padEnd(WIDTH)) + textOf(value));
}

const WIDTH = 14;

/** What nobody has published is null. */
function factsOf(name: string, provider: Provider) {
  const { title, docs, schemes, covers, evidence } = provider;
  return {
    name,
    title,
    docs,
    types: [...new Set(schemes.map(({ type }) => type))],
    needs: needsOfProvider(provider),
    covers,
    id: (provider.id ?? []).map((place) => [place].flat().join(" + ")),
    type: provider.type ?? [],
    dedupe: provider.dedupe ?? { mode: "bytes", why: null, source: null },
    contentTypes: provider.contentTypes ?? ["application/json"],
    bodyLimit: provider.bodyLimitBytes ?? null,
    handshake: provider.handshake ?? null,
    answer: answerOf(provider),
    refusedStatus: provider.refusedStatus ?? 403,
    evidence: evidence.kind,
    provedBy: evidence.by,
  };
}

function answerOf({ acknowledgement, needsEmptyAnswers }: Provider): string | null {
  if (needsEmptyAnswers) return "empty";
  return acknowledgement ? `${acknowledgement.type}: ${acknowledgement.text}` : null;
}

/** A fact for a person. A list has commas, and what is not known a dash. */
function textOf(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return "-";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object") return String(value);
  return Object.values(value)
    .filter((part) => part !== null)
    .join("; ");
}
