import type { ComponentChildren, VNode } from "preact";
import type { Stats, Status } from "../answers.ts";
import { ago } from "../components/time.ts";
import { html } from "../html.ts";
import { deadLetters } from "../live.ts";
import { hashOf } from "../place.ts";
import { formats, t } from "../texts/texts.ts";

/** The figures of the last hour and of the present. */
export function tiles(now: Status, { total, items }: Stats): VNode {
  // The last minute is not over: the one before is whole.
  const minute = items.at(-2);
  const failed = total.retried + total.deadLettered;
  const attempts = failed + total.processed;
  return html`<ul class="tiles">
    ${tile(t.overview.received, formats.count(total.received), perMinute(minute?.received))}
    ${tile(t.overview.refused, formats.count(total.refused + total.conflict), perMinute(minute && minute.refused + minute.conflict))}
    ${tile(t.overview.processed, formats.count(total.processed), perMinute(minute?.processed))}
    ${tile(t.overview.failed, formats.percent(attempts === 0 ? 0 : failed / attempts), t.overview.ofAttempts(failed, attempts))}
    ${latencyTile(total.latency)}
    ${queueTile(now)}
    ${tile(t.overview.deadLetters, html`<a href=${hashOf(["dead-letters"])}>${formats.count(deadLetters.value)}</a>`, t.overview.toRepair)}
    ${diskTile(now)}
  </ul>`;
}

const perMinute = (count = 0) => html`${t.overview.inHour}<br />${t.overview.perMinute(formats.count(count))}`;

const tile = (label: string, value: ComponentChildren, detail: ComponentChildren) => html`<li key=${label}>
  <span class="soft">${label}</span><strong>${value}</strong><span class="soft small">${detail}</span>
</li>`;

function latencyTile(latency: Stats["total"]["latency"]): VNode {
  if (latency === null) return tile(t.overview.latency, "–", t.overview.inHour);
  const { p50, p95, p99 } = latency;
  const others = t.overview.otherLatencies(formats.duration(p50), formats.duration(p99));
  return tile(t.overview.latency, formats.duration(p95), html`${t.overview.inHour}<br />${others}`);
}

function queueTile({ events: { queued, oldestQueuedAt } }: Status): VNode {
  const link = html`<a href=${hashOf(["events"], { status: "queued" })}>${formats.count(queued)}</a>`;
  return tile(t.overview.queue, link, oldestQueuedAt === null ? t.overview.empty : oldest(oldestQueuedAt));
}

function oldest(at: string): VNode {
  const [before, after] = t.overview.oldest("\0").split("\0");
  return html`${before}${ago(at)}${after}`;
}

function diskTile({ disk: { freeBytes, minFreeBytes } }: Status): VNode {
  const limit = minFreeBytes === null ? t.overview.noLimit : t.overview.refusedBelow(formats.bytes(minFreeBytes));
  return tile(t.overview.disk, freeBytes === null ? "–" : formats.bytes(freeBytes), limit);
}
