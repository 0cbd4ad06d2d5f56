import type { Signal } from "@preact/signals";
import type { VNode } from "preact";
import type { EventItem } from "../answers.ts";
import { badge, statusBadge } from "../components/badge.tsx";
import { table } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { now } from "../live.ts";
import { printable } from "../printable.ts";
import { eventHref } from "../router.ts";
import { formats, serverText, t } from "../texts/texts.ts";
import type { OpenList } from "./kept-list.ts";
import { type EventList, eventKey } from "./list.ts";

/** The rows of a list of events. */
export const eventRows = ({ list, selected }: OpenList): VNode =>
  table({
    caption: t.events.caption,
    layout: "events",
    rows: list.rows.value,
    keyOf: eventKey,
    columns: [
      { label: t.events.selection, kind: "select", cell: (event) => checkbox(event, selected) },
      { label: t.events.status, kind: "status", cell: ({ status }) => statusBadge(status) },
      { label: t.events.event, kind: "id", cell: (event) => link(event, list), isHeader: true },
      {
        label: t.events.type,
        kind: "type word",
        cell: ({ type }) => <span title={type}>{printable(type)}</span>,
      },
      { label: t.events.source, kind: "source word", cell: ({ source }) => source },
      { label: t.events.attempts, kind: "attempts number", cell: ({ attempts }) => formats.count(attempts) },
      { label: t.events.received, kind: "time", cell: ({ receivedAt }) => ago(receivedAt) },
    ],
  });

const link = (event: EventItem, { arrivals }: EventList) => (
  <>
    <Arrival at={arrivals.get(eventKey(event))} />
    <a class="row" href={eventHref(event)} title={event.eventId}>
      {printable(event.eventId)}
    </a>
    {errorOf(event)}
  </>
);

// The style lets the mark fade in this time.
const MARKED_MS = 20_000;

/** Marks an event that has just come. */
function Arrival({ at }: { at: number | undefined }): VNode | null {
  if (at === undefined || now.value - at >= MARKED_MS) return null;
  return <span class="arrival">{badge("note", "plus", t.events.isNew)}</span>;
}

const errorOf = ({ lastError }: EventItem) =>
  lastError !== null && (
    <span class="clip" title={lastError}>
      <span class="offscreen">{t.events.lastError}: </span>
      {printable(serverText(lastError))}
    </span>
  );

function checkbox(event: EventItem, selected: Signal<ReadonlySet<string>>): VNode {
  const key = eventKey(event);
  const onChange = () => toggle(key, selected);
  return (
    <input
      type="checkbox"
      aria-label={t.events.select(event.eventId)}
      checked={selected.value.has(key)}
      onChange={onChange}
    />
  );
}

function toggle(key: string, selected: Signal<ReadonlySet<string>>): void {
  const next = new Set(selected.value);
  if (!next.delete(key)) next.add(key);
  selected.value = next;
}
