import type { VNode } from "preact";
import type { EventDetail } from "../answers.ts";
import { lazyDetails } from "../components/lazy-details.ts";
import { payload } from "../components/payload.ts";
import { terms } from "../components/table.ts";
import { exactly } from "../components/time.ts";
import { html } from "../html.ts";
import { t } from "../texts/texts.ts";

type Conflict = EventDetail["conflicts"][number];

/** The other payloads that came under the id of an event. */
export function conflicts(all: readonly Conflict[]): VNode | null {
  if (all.length === 0) return null;
  return html`<section><h2>${t.event.conflicts}</h2><p class="soft">${t.event.conflictsWhy}</p>
    <ul class="cards">${all.map(card)}</ul></section>`;
}

const card = ({
  number,
  payloadSha256,
  deliveries,
  firstAt,
  lastAt,
  address,
  payload: text,
}: Conflict) => html`<li class="card" key=${payloadSha256}>
  ${terms([
    [t.event.number, String(number)],
    ["SHA-256", html`<code>${payloadSha256}</code>`],
    [t.event.deliveries(deliveries), html`<code>${address}</code>`],
    [t.event.first, exactly(firstAt)],
    [t.event.last, exactly(lastAt)],
  ])}
  ${text !== null && lazyDetails(t.event.payload, () => payload(text))}
</li>`;
