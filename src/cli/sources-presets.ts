import { OperatorError } from "../errors.ts";
import { shownFact } from "../webhook/provider.ts";
import { describeProvider, needsOfProvider } from "../webhook/provider-description.ts";
import { allProviders, PROVIDER_NAMES, providerOf } from "../webhook/providers/index.ts";
import { factText, printFact } from "./facts.ts";
import { remedyForName } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { printTable } from "./table.ts";

interface PresetOptions {
  json?: boolean;
}

/**
 * Prints the presets with what proves each of them, those whose name or title has a text, or all that is known of one.
 */
export function runSourcesPresets(text: string | undefined, options: PresetOptions): void {
  if (text === undefined) printList(allProviders(), options);
  else if (providerOf(text)) printOne(text, options);
  else printList(providersWith(text), options);
}

function providersWith(text: string): ReturnType<typeof allProviders> {
  const wanted = text.toLowerCase();
  const found = allProviders().filter(([name, { title }]) =>
    [name, title].some((word) => word.toLowerCase().includes(wanted)),
  );
  if (found.length === 0) throw noSuchPreset(text);
  return found;
}

function noSuchPreset(name: string): OperatorError {
  const remedy = remedyForPreset(name.toLowerCase());
  return new OperatorError({ found: `There is no preset ${name}`, remedy });
}

function printList(providers: ReturnType<typeof allProviders>, { json }: PresetOptions): void {
  const presets = providers.map(([name, provider]) => {
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
      { heading: "TITLE", leastWidth: 12 },
      "TYPE",
      { heading: "NEEDS", leastWidth: 10 },
      "COVERS",
      "EVIDENCE",
      { heading: "DOCS", leastWidth: 12, givesWay: 1 },
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
    `${counted(presets.length, "preset")}: ${["published", "sdk", "self-signed"].map((kind) => `${count(kind)} ${kind}`).join(", ")}.`,
  );
}

function printOne(name: string, { json }: PresetOptions): void {
  const provider = providerOf(name);
  if (!provider) throw noSuchPreset(name);
  const all = describeProvider(name, provider);
  if (json) {
    printJson(all);
    return;
  }
  const { facts, ...described } = all;
  for (const [label, value] of Object.entries(described)) printFact(label, factText(value));
  for (const [label, fact] of Object.entries(facts))
    printFact(label, fact ? factText({ ...fact, is: shownFact(fact.is) }) : "unknown");
}

/** What to do about a name that is none of a preset. */
export function remedyForPreset(name: string): string {
  return remedyForName(name, PROVIDER_NAMES, "authserve sources presets");
}
