import type { VNode } from "preact";
import type { Preset } from "../answers.ts";
import { terms } from "../components/table.tsx";
import { DAY_MS } from "../format.ts";
import { formats, t } from "../texts/texts.ts";

const SECOND_MS = 1000;

/** How a fact is shown. Facts without an entry are shown as they are. */
const SHOWN: Record<string, (is: unknown) => string> = {
  answerSeconds: (is) => formats.duration(Number(is) * SECOND_MS),
  repeatsForSeconds: (is) => formats.duration(Number(is) * SECOND_MS),
  repeatsByType: (is) =>
    Object.entries(is as Record<string, number>)
      .map(([type, seconds]) => `${type}: ${formats.duration(seconds * SECOND_MS)}`)
      .join(", "),
  keepsDays: (is) => formats.duration(Number(is) * DAY_MS),
  maxBodyBytes: (is) => formats.bytes(Number(is)),
  repeats: (is) => t.setup.repeats[is as keyof typeof t.setup.repeats],
};

/** What is published about how a provider delivers, each with its source. */
export function providerFacts({ facts, handshake }: Preset): VNode {
  const known = Object.entries(t.setup.facts).flatMap(([name, label]) => {
    const fact = facts[name];
    if (!fact) return [];
    const text = (SHOWN[name] ?? String)(fact.is);
    return [
      [
        label,
        <>
          {text}{" "}
          <a class="small" href={urlOf(fact.source)} target="_blank" rel="noreferrer">
            {t.setup.factSource}
          </a>
        </>,
      ] as const,
    ];
  });
  return (
    <>
      {terms([...(handshake === null ? [] : [[t.setup.handshake, t.setup.setHandshake] as const]), ...known])}
      {known.length === 0 && <p class="soft">{t.setup.noFacts}</p>}
    </>
  );
}

/** A source may be a package or a report instead of an address. */
const urlOf = (source: string) => /https?:\S+/.exec(source)?.[0] ?? "";
