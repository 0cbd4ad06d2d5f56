import type { VNode } from "preact";
import type { EventDetail } from "../answers.ts";
import { lazyDetails } from "../components/lazy-details.tsx";
import { Section } from "../components/section.tsx";
import { terms } from "../components/table.tsx";
import { exactly } from "../components/time.tsx";
import { printable } from "../printable.ts";
import { eventHref } from "../router.ts";
import { t } from "../texts/texts.ts";
import { headers } from "./headers.tsx";

type Repeat = EventDetail["repeats"][number];

/** The other ids under which the payload of an event came. */
export function repeats({ repeats, source }: EventDetail): VNode | null {
  if (repeats.length === 0) return null;
  return (
    <Section title={t.event.repeats}>
      <p class="soft">{t.event.repeatsWhy}</p>
      <ul class="cards">{repeats.map((repeat) => card(repeat, source))}</ul>
    </Section>
  );
}

const card = (
  { number, eventId, deliveries, firstAt, lastAt, address, headers: kept, replayedAs }: Repeat,
  source: string,
) => (
  <li class="card" key={number}>
    {terms([
      [t.event.number, String(number)],
      ["Id", <code>{printable(eventId)}</code>],
      [t.event.deliveries(deliveries), <code>{address}</code>],
      [t.event.first, exactly(firstAt)],
      [t.event.last, exactly(lastAt)],
      ...(replayedAs === null ? [] : [[t.event.replayedAs, eventLink(replayedAs, source)] as const]),
    ])}
    {lazyDetails(t.event.headers, () => headers(kept))}
  </li>
);

const eventLink = (eventId: string, source: string) => (
  <a href={eventHref({ eventId, source })}>{printable(eventId)}</a>
);
