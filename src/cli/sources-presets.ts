import { allProviders } from "../webhook/providers/index.ts";
import { printJson, say } from "./output.ts";
import { needsOfProvider } from "./preset-words.ts";
import { printTable } from "./table.ts";

/** Prints the presets with what proves each of them. */
export async function runSourcesPresets({ json }: { json?: boolean }): Promise<void> {
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
  if (json) return printJson(presets);
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
