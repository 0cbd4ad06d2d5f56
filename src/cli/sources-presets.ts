import { evidenceOf } from "../webhook/presets/evidence.ts";
import { PRESETS } from "../webhook/presets/index.ts";
import { printJson, say } from "./output.ts";
import { printTable } from "./table.ts";

/** Prints the presets with what proves each of them. */
export async function runSourcesPresets({ json }: { json?: boolean }): Promise<void> {
  const presets = Object.entries(PRESETS).map(([name, { title, schemes, covers, docs }]) => {
    const { kind, by } = evidenceOf(name);
    return { name, title, type: schemes[0]?.type ?? "hmac", covers, evidence: kind, docs, provedBy: by };
  });
  if (json) return printJson(presets);
  printTable(
    ["NAME", "TITLE", "TYPE", "COVERS", { heading: "EVIDENCE", leastWidth: 9 }, { heading: "DOCS", leastWidth: 12 }],
    presets.map(({ name, title, type, covers, evidence, docs }) => [name, title, type, covers, evidence, docs]),
  );
  const count = (kind: string) => presets.filter(({ evidence }) => evidence === kind).length;
  say(
    `${presets.length} presets: ${["published", "sdk", "self-signed"].map((kind) => `${count(kind)} ${kind}`).join(", ")}.`,
  );
}
