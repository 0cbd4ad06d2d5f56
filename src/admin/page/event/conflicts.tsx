import type { VNode } from "preact";
import type { EventDetail } from "../answers.ts";
import { lazyDetails } from "../components/lazy-details.tsx";
import { Payload } from "../components/payload.tsx";
import { Section } from "../components/section.tsx";
import { terms } from "../components/table.tsx";
import { exactly } from "../components/time.tsx";
import { t } from "../texts/texts.ts";

type Conflict = EventDetail["conflicts"][number];

/** The other payloads that came under the id of an event. */
export function conflicts(all: readonly Conflict[]): VNode | null {
  if (all.length === 0) return null;
  return (
    <Section title={t.event.conflicts}>
      <p class="soft">{t.event.conflictsWhy}</p>
      <ul class="cards">{all.map(card)}</ul>
    </Section>
  );
}

const card = ({ number, payloadSha256, deliveries, firstAt, lastAt, address, payload: text }: Conflict) => (
  <li class="card" key={payloadSha256}>
    {terms([
      [t.event.number, String(number)],
      ["SHA-256", <code>{payloadSha256}</code>],
      [t.event.deliveries(deliveries), <code>{address}</code>],
      [t.event.first, exactly(firstAt)],
      [t.event.last, exactly(lastAt)],
    ])}
    {text !== null && lazyDetails(t.event.payload, () => <Payload text={text} />)}
  </li>
);
