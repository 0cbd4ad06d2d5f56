import type { VNode } from "preact";
import type { RecentRefusal, Source } from "../answers.ts";
import { badge } from "../components/badge.tsx";
import { TableView } from "../components/list-view.tsx";
import { Section } from "../components/section.tsx";
import { addSourceLink, emptyState, shown } from "../components/states.tsx";
import { type Column, table, terms } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { hashOf } from "../place.ts";
import { readRefusals, readSources } from "../requests.ts";
import { useResource } from "../resource.ts";
import { formats, t } from "../texts/texts.ts";
import { expectedText } from "./overview-sources.tsx";

/** The sources, which of their secrets are in use, and requests to mistyped paths. */
export const Sources = (): VNode => (
  <>
    {list()}
    <Strays />
  </>
);

const list = (): VNode => (
  <TableView
    title={t.views.sources}
    intro={t.sources.intro}
    beside={addSourceLink()}
    list={useResource("sources", readSources, 5000)}
    rowsOf={({ items }) => items}
    empty={emptyState(t.sources.empty, t.sources.emptyHint, addSourceLink())}
    keyOf={({ name }) => name}
    columns={COLUMNS}
  />
);

const COLUMNS: readonly Column<Source>[] = [
  {
    label: t.outages.source,
    isHeader: true,
    cell: (source) => (
      <>
        <a href={hashOf(["sources", source.name])}>{source.name}</a>{" "}
        {source.silent && badge("warn", "warning", t.sources.silent)}{" "}
        {oldSecret(source) && badge("warn", "warning", t.sources.oldSecret)}
      </>
    ),
  },
  { label: t.sources.path, cell: ({ path }) => <code>{path}</code> },
  { label: t.sources.preset, cell: ({ preset }) => preset ?? t.sources.noPreset },
  {
    label: t.sources.received,
    kind: "number",
    cell: ({ name, received }) => <a href={hashOf(["events"], { source: name })}>{formats.count(received)}</a>,
  },
  {
    label: t.sources.refused,
    kind: "number",
    cell: ({ name, refused }) => <a href={hashOf(["refused"], { source: name })}>{formats.count(refused)}</a>,
  },
  { label: t.sources.last, kind: "time", cell: ({ lastReceivedAt }) => ago(lastReceivedAt) },
  { label: t.sources.expected, cell: ({ expectEvery }) => expectedText(expectEvery) },
];

function Strays(): VNode {
  const refusals = useResource("refusals", readRefusals, 10_000);
  return <>{shown(refusals, ({ items }) => strays(items.filter(({ source }) => source === null)))}</>;
}

const strays = (rows: readonly RecentRefusal[]): VNode | null =>
  rows.length === 0 ? null : (
    <Section title={t.sources.strays}>
      {table({
        caption: t.sources.strays,
        rows,
        keyOf: ({ path }) => String(path),
        columns: [
          { label: t.sources.path, cell: ({ path }) => <code>{path}</code>, isHeader: true },
          { label: t.sources.meant, kind: "grow", cell: ({ near }) => (near === null ? "–" : <code>{near}</code>) },
          { label: t.refused.received, cell: ({ receivedAt }) => ago(receivedAt) },
          { label: t.event.address, cell: ({ address }) => <code>{address}</code> },
        ],
      })}
    </Section>
  );

/** What a source is and has received. */
export const sourceTerms = (source: Source) =>
  terms([
    [t.sources.path, <code>{source.path}</code>],
    [t.sources.preset, source.preset ?? t.sources.noPreset],
    [t.sources.received, <a href={hashOf(["events"], { source: source.name })}>{formats.count(source.received)}</a>],
    [t.sources.refused, <a href={hashOf(["refused"], { source: source.name })}>{formats.count(source.refused)}</a>],
    ...(source.refused > 0 ? [[t.sources.refusals, refusals(source)] as const] : []),
    [t.sources.last, ago(source.lastReceivedAt)],
    [t.sources.expected, expectedText(source.expectEvery)],
  ]);

/** E.g. `12 no_signature`, in the order of the answer. */
const refusals = (source: Source) => (
  <>
    {Object.entries(source.refusals).map(([reason, number], index) => (
      <>
        {index > 0 && ", "}
        {formats.count(number)} <code>{reason}</code>
      </>
    ))}
  </>
);

/** Whether the last delivery was signed with another secret than the newest. */
export const oldSecret = ({ secrets: [newest], lastSecret }: Source) => lastSecret !== null && lastSecret !== newest;

/** The secrets of a source, and when each matched. */
export function secrets({ secrets: names, secretUses, lastSecret, name }: Source): VNode {
  const useOf = (secret: string) => secretUses.find((use) => use.name === secret);
  return table({
    caption: `${t.sources.secrets}: ${name}`,
    rows: names,
    keyOf: String,
    columns: [
      {
        label: t.sources.secret,
        isHeader: true,
        cell: (secret) => (
          <>
            <code>{secret}</code> {secret === names[0] && names.length > 1 && badge("calm", "minus", t.sources.newest)}{" "}
            {secret === lastSecret && badge("good", "check", t.sources.lastMatched)}
          </>
        ),
      },
      { label: t.sources.firstUsed, cell: (secret) => ago(useOf(secret)?.firstUsedAt ?? null, t.sources.neverMatched) },
      { label: t.sources.lastUsed, cell: (secret) => ago(useOf(secret)?.lastUsedAt ?? null, t.sources.neverMatched) },
    ],
  });
}
