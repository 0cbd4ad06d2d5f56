import { FACT_NAMES, type Fact, type FactValues, type Provider, shownFact } from "../../src/webhook/provider.ts";
import { needsOfProvider, refusedStatusOf } from "../../src/webhook/provider-description.ts";
import { allProviders } from "../../src/webhook/providers/index.ts";
import { code, page, table } from "./markdown.ts";

/** The heading and the meaning of each fact. */
const FACTS: Record<keyof FactValues, [heading: string, meaning: string]> = {
  sameBytes: ["same bytes", "whether two different events can have the same bytes"],
  repeatChanges: ["a repeat changes", "what differs when a delivery is sent again"],
  batches: ["batches", "whether one delivery can have several events"],
  rotation: ["rotation", "how a delivery is signed while one secret replaces another"],
  maxBodyBytes: ["largest body", "in bytes; the limit of the source, where it is over the usual one"],
  answer: ["takes", "the answer that counts as delivered"],
  answerSeconds: ["waits", "how long it waits for the answer, in seconds"],
  repeats: ["repeats", "whether it sends a failed delivery again by itself, only on request, or never"],
  schedule: ["schedule", "when it sends it again"],
  repeatsForSeconds: ["for", "from the first to the last attempt, in seconds"],
  repeatsByType: ["for, by type", "the same for the types of events that differ; 0: never sent again"],
  disables: ["stops", "when it stops to deliver to an address that fails"],
  keepsDays: ["keeps", "for how many days deliveries can be asked for again"],
};

/** The page of presets. */
export function presetsPage(): string {
  const providers = allProviders();
  return page(
    "Presets",
    "What is known of each provider. `authserve sources presets NAME` prints one, with `--json` for programs.",
    "## What they sign, and what makes a duplicate",
    "`evidence` is a delivery that somebody published and that verifies, or the provider's package that signed or accepted one.",
    table(
      ["preset", "provider", "needs", "covers", "dedupe", "evidence"],
      providers.map(([name, provider]) => [
        code(name),
        `[${provider.title}](${provider.docs})`,
        needsOfProvider(provider).join(", ") || "nothing",
        provider.covers,
        provider.dedupe
          ? `[${provider.dedupe.mode}](${linkOf(provider.dedupe.source)}): ${provider.dedupe.why}`
          : "bytes",
        evidenceOf(provider),
      ]),
    ),
    "## What refused deliveries get",
    `A delivery that is not genuine gets 403, or 401 at ${refusedWith401(providers)}.`,
    "## What they do with deliveries",
    "Each value links to the page or package that says it. An empty cell is unknown: nobody has published it, or nobody has found it.",
    FACT_NAMES.map((name) => `- **${FACTS[name][0]}**: ${FACTS[name][1]}`).join("\n"),
    table(
      ["preset", ...FACT_NAMES.map((name) => FACTS[name][0])],
      providers.map(([name, { facts = {} }]) => [code(name), ...FACT_NAMES.map((fact) => cellOf(facts[fact]))]),
    ),
    countsOf(providers),
  );
}

function refusedWith401(providers: readonly [string, Provider][]): string {
  const names = providers.filter(([, provider]) => refusedStatusOf(provider) === 401).map(([name]) => code(name));
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function cellOf(fact: Fact<unknown> | undefined): string {
  return fact ? `[${textOf(fact.is)}](${linkOf(fact.source)})` : "";
}

function textOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "nothing" : value.join(", ");
  return String(shownFact(value));
}

/** The address of a source: a page, or a package of npm with its version. */
function linkOf(source: string): string {
  if (source.startsWith("https:")) return source.replace(/[()]/g, encodeURIComponent);
  const at = source.lastIndexOf("@");
  return `https://www.npmjs.com/package/${source.slice(0, at)}/v/${source.slice(at + 1)}`;
}

function evidenceOf({ evidence }: Provider): string {
  return evidence.by === null ? evidence.kind : `[${evidence.kind}](${linkOf(evidence.by)})`;
}

function countsOf(providers: readonly [string, Provider][]): string {
  const known = (name: keyof FactValues) => providers.filter(([, { facts = {} }]) => facts[name]).length;
  const counts = FACT_NAMES.map((name) => `${FACTS[name][0]} ${known(name)}`);
  return `Known, of ${providers.length} presets: ${counts.join(", ")}.`;
}
