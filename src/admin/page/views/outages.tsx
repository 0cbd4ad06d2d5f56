import type { ComponentChildren, VNode } from "preact";
import type { Outage, ReachableSource } from "../answers.ts";
import { announce } from "../components/announcer.tsx";
import { badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Heading } from "../components/heading.tsx";
import { remedyText } from "../components/remedy.tsx";
import { Section } from "../components/section.tsx";
import { addSourceLink, emptyState, shown, skeleton } from "../components/states.tsx";
import { table } from "../components/table.tsx";
import { ago, exactly } from "../components/time.tsx";
import { DAY_MS } from "../format.ts";
import { hashOf } from "../place.ts";
import { beginCatchUp, readOutages } from "../requests.ts";
import { useResource } from "../resource.ts";
import { formats, t } from "../texts/texts.ts";

type CatchUp = (source: string) => Promise<void>;

/** When no delivery could be taken, what each sender does about it, and how to get what was missed. */
export function Outages(): VNode {
  const outages = useResource("outages", readOutages, 5000);
  const catchUp: CatchUp = async (source) => {
    await beginCatchUp(source);
    announce(t.outages.begun(source));
    await outages.reload();
  };
  return (
    <>
      <Heading title={t.views.outages} />
      <p class="soft">{t.outages.intro}</p>
      {shown(
        outages,
        ({ items, sources }) => (
          <>
            {sourcesTable(sources, catchUp)}
            {outagesOf(items)}
          </>
        ),
        skeleton(8),
      )}
    </>
  );
}

const sourcesTable = (sources: readonly ReachableSource[], catchUp: CatchUp): VNode => (
  <Section title={t.views.sources}>
    {sources.length === 0 && emptyState(t.sources.empty, t.sources.emptyHint, addSourceLink())}
    {sources.length > 0 &&
      table({
        caption: t.views.sources,
        rows: sources,
        keyOf: ({ name }) => name,
        columns: [
          {
            label: t.outages.source,
            kind: "roomy",
            isHeader: true,
            cell: ({ name }) => <a href={hashOf(["sources", name])}>{name}</a>,
          },
          { label: t.outages.sender, kind: "grow", cell: repeats },
          { label: t.outages.catchUp, kind: "grow", cell: (source) => caughtUp(source, catchUp) },
        ],
      })}
  </Section>
);

function repeats({ provider, resends, resendsForSeconds, keepsDays }: ReachableSource): string {
  const days = keepsDays === null ? null : formats.duration(keepsDays * DAY_MS);
  const text = {
    automatic: automaticText(resendsForSeconds),
    manual: days === null ? t.outages.manual : t.outages.manualFor(days),
    unknown: t.outages.unknownRepeats,
  }[resends];
  return provider === null ? text : `${provider}: ${text}`;
}

function automaticText(seconds: number | null): string {
  if (seconds === null) return t.outages.automatic;
  return seconds === 0 ? t.outages.notAllTypes : t.outages.automaticFor(formats.duration(seconds * 1000));
}

function caughtUp(source: ReachableSource, catchUp: CatchUp): ComponentChildren {
  const { name, catchUp: state, running, ranAt, error, last } = source;
  if (state !== "configured")
    return <span class="soft">{state === "possible" ? t.outages.possible : t.outages.impossible}</span>;
  return (
    <>
      {running ? t.outages.running : ago(ranAt, t.outages.notYet)}
      {!running && last !== null && (
        <>
          {" "}
          <span class="soft">{t.outages.last(last.redelivered, last.captured, last.failed, last.left)}</span>
        </>
      )}
      {!running && error !== null && (
        <>
          {" "}
          <span class="bad">{error}</span>
        </>
      )}
      {!running && (
        <>
          {" "}
          <Button class="quiet" label={t.outages.catchUpNow} of={name} onClick={() => catchUp(name)} />
        </>
      )}
    </>
  );
}

/** The newest first. */
const outagesOf = (outages: readonly Outage[]): VNode => (
  <Section title={t.views.outages}>
    {outages.length === 0 ? (
      emptyState(t.outages.none, t.outages.noneHint, <code>authserve outages --since 90d</code>)
    ) : (
      <ul class="cards">{outages.toReversed().map(card)}</ul>
    )}
  </Section>
);

function card(outage: Outage): VNode {
  const { kind, from, to, sources } = outage;
  const lasted = formats.duration(Date.parse(to) - Date.parse(from));
  const isAtRisk = sources.some(({ atRisk }) => atRisk);
  return (
    <li class="card" key={`${kind} ${from}`}>
      <div class="bar">
        <h3>{t.outages.lasted(t.outages.kinds[kind], lasted)}</h3>
        {isAtRisk ? badge("warn", "warning", t.outages.atRisk) : badge("calm", "check", t.outages.safe)}
      </div>
      <p>
        {exactly(from)} – {exactly(to)}
      </p>
      {table({
        caption: t.views.sources,
        rows: sources,
        keyOf: ({ name }) => name,
        columns: [
          { label: t.outages.source, kind: "roomy", isHeader: true, cell: ({ name }) => name },
          { label: t.outages.until, kind: "roomy", cell: ({ until }) => (until === null ? t.unknown : exactly(until)) },
          { label: t.outages.missed, cell: ({ missed }) => (missed === null ? t.unknown : formats.count(missed)) },
          {
            label: t.alerts.remedy,
            kind: "grow",
            cell: ({ remedy }) => (remedy === null ? t.outages.nothing : remedyText(remedy)),
          },
        ],
      })}
    </li>
  );
}
