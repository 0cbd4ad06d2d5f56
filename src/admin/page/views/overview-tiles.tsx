import type { ComponentChildren, VNode } from "preact";
import type { Stats, Status } from "../answers.ts";
import { ago } from "../components/time.tsx";
import { deadLetters } from "../live.ts";
import { hashOf } from "../place.ts";
import { formats, t } from "../texts/texts.ts";

const MINUTE_MS = 60_000;
/** The share of failed attempts from which it is a matter for a person. */
const MANY_FAILED = 0.1;

/** The figures of the present and of the last hour. What may need a person comes first. */
export function tiles(now: Status, { total, items }: Stats): VNode {
  // The last minute is not over: the one before is whole.
  const minute = items.at(-2);
  const inMinute = (count: number | undefined) => (
    <>
      {t.overview.inHour}
      {minute && (
        <>
          <br />
          {minuteText(minute.at, count ?? 0)}
        </>
      )}
    </>
  );
  const failed = total.retried + total.deadLettered;
  const attempts = failed + total.processed;
  const share = attempts === 0 ? 0 : failed / attempts;
  return (
    <ul class="tiles">
      {tile({
        label: t.overview.deadLetters,
        value: linked(deadLetters.value, hashOf(["dead-letters"])),
        detail: t.overview.toRepair,
        tone: deadLetters.value > 0 && "bad",
      })}
      {queueTile(now)}
      {tile({
        label: t.overview.failed,
        value: formats.percent(share),
        detail: t.overview.ofAttempts(failed, attempts),
        tone: share > MANY_FAILED && "bad",
      })}
      {tile({
        label: t.overview.refused,
        value: linked(total.refused, hashOf(["refused"])),
        detail: inMinute(minute?.refused),
        tone: total.refused > 0 && "warn",
      })}
      {tile({
        label: t.overview.received,
        value: linked(total.received, hashOf(["events"], { range: "1h" })),
        detail: (
          <>
            {inMinute(minute?.received)}
            {total.conflict > 0 && (
              <>
                <br />
                {t.overview.conflicts(total.conflict)}
              </>
            )}
          </>
        ),
      })}
      {tile({
        label: t.overview.processed,
        value: linked(total.processed, hashOf(["events"], { range: "1h", status: "processed" })),
        detail: inMinute(minute?.processed),
      })}
      {latencyTile(total.latency)}
      {now.store === "sqlite" ? diskTile(now) : sizeTile(now)}
    </ul>
  );
}

/** E.g. `4 from 11:52 to 11:53`. */
function minuteText(at: string, count: number): string {
  const from = Date.parse(at);
  return t.overview.between(formats.count(count), formats.clock(from), formats.clock(from + MINUTE_MS));
}

const linked = (count: number, href: string) => <a href={href}>{formats.count(count)}</a>;

interface Tile {
  label: string;
  value: ComponentChildren;
  detail: ComponentChildren;
  /** Set if it may need a person. */
  tone?: "bad" | "warn" | false;
}

const tile = ({ label, value, detail, tone }: Tile) => (
  <li key={label} class={tone ? `marked ${tone}` : ""}>
    <span class="soft">{label}</span>
    <strong>{value}</strong>
    <span class="soft small">{detail}</span>
  </li>
);

function latencyTile(latency: Stats["total"]["latency"]): VNode {
  const label = t.overview.latency;
  if (latency === null) return tile({ label, value: "–", detail: t.overview.inHour });
  const { p50, p95, p99 } = latency;
  const others = t.overview.otherLatencies(formats.duration(p50), formats.duration(p99));
  return tile({
    label,
    value: formats.duration(p95),
    detail: (
      <>
        {t.overview.inHour}
        <br />
        {others}
      </>
    ),
  });
}

function queueTile({ events: { queued, oldestQueuedAt } }: Status): VNode {
  return tile({
    label: t.overview.queue,
    value: linked(queued, hashOf(["events"], { status: "queued" })),
    detail: oldestQueuedAt === null ? t.overview.empty : oldest(oldestQueuedAt),
  });
}

function oldest(at: string): VNode {
  const [before, after] = t.overview.oldest("\0").split("\0");
  return (
    <>
      {before}
      {ago(at)}
      {after}
    </>
  );
}

function diskTile({ disk: { freeBytes, minFreeBytes }, paused }: Status): VNode {
  return tile({
    label: t.overview.disk,
    value: freeBytes === null ? "–" : formats.bytes(freeBytes),
    detail: minFreeBytes === null ? t.overview.noLimit : t.overview.refusedBelow(formats.bytes(minFreeBytes)),
    tone: paused === "disk_low" && "bad",
  });
}

/** The disk of a database server is not known here. */
const sizeTile = ({ events: { bytes, ids } }: Status) =>
  tile({ label: t.overview.size, value: formats.bytes(bytes), detail: t.overview.inEvents(ids) });
