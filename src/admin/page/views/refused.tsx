import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { HeldItem, RecentRefusal, Source } from "../answers.ts";
import { type Choice, useChoice } from "../choice.ts";
import { announce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { Heading } from "../components/heading.tsx";
import { reasonText, remedyOf } from "../components/refusal.tsx";
import { Section } from "../components/section.tsx";
import { emptyState, failureText, shown, skeleton } from "../components/states.tsx";
import { type Column, table } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { hashOf } from "../place.ts";
import { listHeld, readRefusals, readSources, reverifyHeld } from "../requests.ts";
import { type Resource, useResource } from "../resource.ts";
import { place } from "../router.ts";
import { formats, t } from "../texts/texts.ts";
import { removeDialog } from "./refused-remove.tsx";

const EVERY_MS = 10_000;
/** So many are shown, and a request takes at most so many. */
const MOST = 500;

/** The refused deliveries: how many for which reason, and those that are held. */
export function Refused(): VNode {
  const { source } = place.value.query;
  const sources = useResource("sources", readSources, EVERY_MS);
  const recent = useResource("refusals", readRefusals, EVERY_MS);
  const held = useResource(`held ${source ?? ""}`, (signal) => readNewest(source, signal), EVERY_MS);
  const result = useSignal("");
  const removing = useChoice<number[]>();
  async function reverify(ids: number[]): Promise<void> {
    result.value = await reverifyHeld(ids).then(
      ({ admitted, duplicates, refused }) => t.refused.reverified(admitted, duplicates, refused.length),
      failureText,
    );
    announce(result.value);
    await Promise.all([held.reload(), sources.reload()]);
  }
  return (
    <>
      <Heading title={t.views.refused}>
        <a class="button" href={hashOf(["explain"], { source })}>
          {t.refused.explainOther}
        </a>
      </Heading>
      <p class="soft">{t.refused.intro}</p>
      {result.value !== "" && <p class="note">{result.value}</p>}
      {shown(sources, ({ items }) => counts(items, source))}
      {shown(recent, ({ items }) => newest(items.filter((one) => source === undefined || one.source === source)))}
      <section>
        <div class="bar">
          <h2>{t.refused.held}</h2>
          {actions(held, reverify, removing)}
        </div>
        {shown(
          held,
          (rows) =>
            rows.length === 0
              ? emptyState(t.refused.noneHeld, t.refused.noneHeldHint, <code>{"keepRejected: { count: 1000 }"}</code>)
              : list(rows),
          skeleton(6),
        )}
      </section>
      {removing.value && removeDialog(removing.value, { onRemoved: () => void held.reload(), onClose: removing.close })}
    </>
  );
}

/** The newest held deliveries first, and not all of many. The server lists them in order of arrival. */
async function readNewest(source: string | undefined, signal: AbortSignal): Promise<HeldItem[]> {
  let rows: HeldItem[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await listHeld({ source, limit: MOST, cursor }, signal);
    rows = [...rows, ...page.items].slice(-MOST);
    cursor = page.cursor;
  }
  return rows.reverse();
}

interface Count {
  source: Source;
  reason: string;
  count: number;
}

function counts(sources: readonly Source[], chosen: string | undefined): VNode {
  const rows = sources
    .flatMap((source) => Object.entries(source.refusals).map(([reason, count]): Count => ({ source, reason, count })))
    .sort((a, b) => b.count - a.count);
  if (rows.length === 0)
    return emptyState(
      t.refused.none,
      t.refused.noneHint,
      <a href={hashOf(["explain"], { source: chosen })}>{t.refused.explainOther}</a>,
    );
  return (
    <>
      {table({
        caption: t.refused.byReason,
        rows,
        keyOf: ({ source, reason }) => `${source.name} ${reason}`,
        columns: [
          {
            label: t.sources.source,
            cell: ({ source: { name } }) => (
              <a href={hashOf(["refused"], { source: name })} aria-current={name === chosen ? "true" : undefined}>
                {name}
              </a>
            ),
            isHeader: true,
          },
          { label: t.refused.reason, kind: "grow", cell: ({ reason }) => remedyOf(reason) },
          { label: t.refused.count, kind: "number", cell: ({ count }) => formats.count(count) },
          {
            label: t.refused.kept,
            cell: ({ source }) => (source.keepsRejected ? t.refused.isKept : t.refused.isNotKept),
          },
        ],
      })}
      {chosen !== undefined && (
        <p class="small">
          <a href={hashOf(["refused"])}>{t.refused.allSources}</a>
        </p>
      )}
    </>
  );
}

function actions(
  held: Resource<HeldItem[]>,
  reverify: (ids: number[]) => Promise<void>,
  removing: Choice<number[]>,
): VNode | null {
  const ids = held.data.value?.map(({ id }) => id) ?? [];
  if (ids.length === 0) return null;
  return (
    <span class="actions">
      <Button label={t.refused.reverifyAll(ids.length)} onClick={() => reverify(ids)} />
      <Button class="quiet" label={`${t.refused.removeAll(ids.length)}…`} onClick={removing.choose(ids)} />
    </span>
  );
}

const REFUSAL_COLUMNS: Column<Pick<RecentRefusal, "source" | "reason" | "address"> & { path?: string | null }>[] = [
  { label: t.sources.source, cell: ({ source, path }) => source ?? <code>{path}</code> },
  { label: t.refused.reason, kind: "grow", cell: ({ reason }) => reasonText(reason) },
  { label: t.event.address, cell: ({ address }) => <code>{address}</code> },
];

const newest = (rows: readonly RecentRefusal[]): VNode | null =>
  rows.length === 0 ? null : (
    <Section title={t.refused.newest}>
      {table({
        caption: t.refused.newest,
        rows,
        // Several may have one time.
        keyOf: (_, fromEnd) => String(fromEnd),
        columns: [
          { label: t.refused.received, cell: ({ receivedAt }) => ago(receivedAt), isHeader: true },
          ...REFUSAL_COLUMNS,
        ],
      })}
    </Section>
  );

const list = (rows: readonly HeldItem[]): VNode =>
  table({
    caption: t.refused.held,
    rows,
    keyOf: ({ id }) => String(id),
    columns: [
      {
        label: t.refused.received,
        cell: ({ id, receivedAt }) => <a href={hashOf(["refused", String(id)])}>{ago(receivedAt)}</a>,
        isHeader: true,
      },
      ...REFUSAL_COLUMNS,
      { label: t.refused.size, kind: "number", cell: ({ bytes }) => formats.bytes(bytes) },
    ],
  });
