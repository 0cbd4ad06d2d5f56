import type { VNode } from "preact";
import type { Source, Stats } from "../answers.ts";
import { badge } from "../components/badge.tsx";
import { addSourceLink, emptyState } from "../components/states.tsx";
import { table } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { hashOf } from "../place.ts";
import { formats, t } from "../texts/texts.ts";

/** The sources with their last event. */
export function overviewSources(items: readonly Source[], hour: Stats | undefined): VNode {
  if (items.length === 0) return emptyState(t.sources.empty, t.sources.emptyHint, addSourceLink());
  const inHour = (name: string) =>
    hour?.sums.filter(({ source }) => source === name).reduce((sum, { received }) => sum + received, 0) ?? 0;
  return table({
    caption: t.sources.caption,
    // Those that are silent for too long come first.
    rows: items.toSorted((a, b) => Number(b.silent) - Number(a.silent)),
    keyOf: ({ name }) => name,
    columns: [
      {
        label: t.sources.source,
        cell: ({ name }) => <a href={hashOf(["sources", name])}>{name}</a>,
        isHeader: true,
      },
      {
        label: t.sources.last,
        cell: ({ lastReceivedAt, silent }) => (
          <>
            {ago(lastReceivedAt)} {silent && badge("warn", "warning", t.sources.silent)}
          </>
        ),
      },
      { label: t.sources.expected, cell: ({ expectEvery }) => expectedText(expectEvery) },
      {
        label: t.sources.inHour,
        kind: "number",
        cell: ({ name }) => (
          <a href={hashOf(["events"], { source: name, range: "1h" })}>{formats.count(inHour(name))}</a>
        ),
      },
      {
        label: t.sources.refused,
        kind: "number",
        cell: ({ name, refused }) => <a href={hashOf(["refused"], { source: name })}>{formats.count(refused)}</a>,
      },
    ],
  });
}

/** The longest usual time between two deliveries. */
export const expectedText = (ms: number | null): string => (ms === null ? t.sources.notExpected : formats.duration(ms));
