import type { ComponentChildren, VNode } from "preact";
import type { RouteItem } from "../answers.ts";
import { useChoice } from "../choice.ts";
import { announce } from "../components/announcer.tsx";
import { badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Confirm } from "../components/confirm.tsx";
import { TableView } from "../components/list-view.tsx";
import { emptyState } from "../components/states.tsx";
import { until } from "../components/time.tsx";
import { tryButton } from "../components/try-button.tsx";
import { now, status } from "../live.ts";
import { hashOf } from "../place.ts";
import { pauseRoute, resumeRoute } from "../requests.ts";
import { formats, t } from "../texts/texts.ts";

/** The routes: their jobs, their targets, and whether they run. */
export function Routes(): VNode {
  const { value: switching, choose, close } = useChoice<RouteItem>();
  const openJobs = ({ name }: RouteItem, list: "queued" | "failed", count: number) => (
    <a href={hashOf(["routes", name], { list })}>{formats.count(count)}</a>
  );
  return (
    <>
      <TableView
        title={t.views.routes}
        list={status}
        rowsOf={({ routes }) => routes.toSorted((a, b) => needs(b) - needs(a))}
        empty={emptyState(
          t.routes.empty,
          t.routes.emptyHint,
          <code>{'routes: [{ name: app, to: "http://127.0.0.1:8080/events" }]'}</code>,
        )}
        keyOf={({ name }) => name}
        columns={[
          { label: t.routes.route, kind: "grow", cell: nameOf, isHeader: true },
          { label: t.routes.state, kind: "roomy", cell: stateOf },
          { label: t.routes.queued, kind: "number", cell: (route) => openJobs(route, "queued", route.queued) },
          {
            label: t.routes.processed,
            kind: "number",
            cell: ({ name, processed }) => endedCount(name, "processed", processed),
          },
          { label: t.routes.failed, kind: "number", cell: (route) => openJobs(route, "failed", route.failed) },
          { label: t.routes.actions, kind: "actions-cell", cell: (route) => switchButton(route, choose(route)) },
        ]}
      />
      {switching && switchDialog(switching, close)}
    </>
  );
}

/** A route that needs a person comes first. */
const needs = ({ failed, available, pausedAt }: RouteItem) =>
  Number(!available) * 4 + Number(failed > 0) * 2 + Number(pausedAt !== null);

const nameOf = ({ name, handler, target }: RouteItem): ComponentChildren => (
  <>
    <a href={hashOf(["routes", name])}>{name}</a>
    {handler !== null && (
      <span class="target">
        <span class="soft">{t.routes.handlers[handler]}</span> <code>{target}</code>
      </span>
    )}
  </>
);

/** A count of ended jobs, with the list of their events. */
export const endedCount = (route: string, ended: "processed" | "discarded", count: number): ComponentChildren => (
  <a href={hashOf(["events"], { status: ended, route })}>{formats.count(count)}</a>
);

/** Whether a route runs. */
export function stateOf({ name, configured, pausedAt, pausedUntil, available, nextProbeAt }: RouteItem): VNode {
  const since = pausedAt === null ? "" : t.routes.pausedSince(formats.ago(Date.parse(pausedAt), now.value));
  return (
    <span class="badges">
      {!configured && badge("calm", "minus", t.routes.gone)}
      {pausedAt !== null && badge("warn", "pause", since)}
      {pausedAt !== null && pausedUntil !== null && (
        <span class="small">
          {t.routes.pauseEnds} {until(pausedUntil)}
        </span>
      )}
      {configured && !available && badge("bad", "warning", t.routes.breakerOpen)}
      {configured && !available && nextProbeAt !== null && (
        <span class="small">
          {t.routes.nextProbe} {until(nextProbeAt)}
        </span>
      )}
      {configured && !available && tryButton(name)}
      {configured && available && pausedAt === null && badge("good", "check", t.routes.active)}
    </span>
  );
}

/** Pauses or resumes a route. */
export function switchButton({ name, pausedAt }: RouteItem, onClick: () => void): VNode {
  const label = pausedAt === null ? t.routes.pause : t.routes.resume;
  return <Button class="quiet" label={label} of={name} onClick={onClick} />;
}

const HOUR_MS = 3_600_000;
const HOURS = ["1", "8", "24"] as const;

/** For how long a route is paused. */
const durations = (
  <fieldset>
    <legend>{t.alerts.duration}</legend>
    <label class="radio">
      <input type="radio" name="hours" value="" checked />
      {t.routes.untilResumed}
    </label>
    {HOURS.map((hours) => (
      <label class="radio" key={hours}>
        <input type="radio" name="hours" value={hours} />
        {t.alerts.hours[hours]}
      </label>
    ))}
  </fieldset>
);

/** Asks before a route is paused or resumed. */
export function switchDialog({ name, pausedAt, queued }: RouteItem, onClose: () => void): VNode {
  const isPaused = pausedAt !== null;
  return (
    <Confirm
      title={isPaused ? t.routes.resumeTitle(name) : t.routes.pauseTitle(name)}
      action={isPaused ? t.routes.resume : t.routes.pause}
      onConfirm={async (fields) => {
        const hours = Number(fields.get("hours"));
        await (isPaused ? resumeRoute(name) : pauseRoute(name, hours ? hours * HOUR_MS : undefined));
        await status.reload();
        announce(isPaused ? t.routes.isResumed(name) : t.routes.isPaused(name));
      }}
      onClose={onClose}
    >
      <p>{isPaused ? t.routes.resumeEffect(queued) : t.routes.pauseEffect}</p>
      {!isPaused && durations}
    </Confirm>
  );
}
