import type { VNode } from "preact";
import type { BulkAction, ErrorGroup } from "../answers.ts";
import { type Choice, useChoice } from "../choice.ts";
import { BulkDialog } from "../components/bulk-dialog.tsx";
import { Button } from "../components/button.tsx";
import { ListView } from "../components/list-view.tsx";
import { emptyState } from "../components/states.tsx";
import { terms } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { trend } from "../components/trend.tsx";
import { groupKey, readGroups } from "../error-groups.ts";
import { status } from "../live.ts";
import { hashOf } from "../place.ts";
import { printable } from "../printable.ts";
import { readErrors } from "../requests.ts";
import { type Resource, useResource } from "../resource.ts";
import { eventHref, place } from "../router.ts";
import { formats, serverText, t } from "../texts/texts.ts";

interface Chosen {
  group: ErrorGroup;
  action: BulkAction;
}

const MOST_NAMES = 5;

/** The dead letters, grouped by route and error. */
export function DeadLetters(): VNode {
  const { route } = place.value.query;
  const read = (signal: AbortSignal) => readGroups((cursor) => readErrors(route, cursor, signal));
  const groups = useResource(route ?? "", read, 30_000);
  const { value: chosen, choose, close } = useChoice<Chosen>();
  const onClose = (hasChanged: boolean) => {
    close();
    if (hasChanged) refresh(groups);
  };
  return (
    <>
      <ListView
        title={t.views.deadLetters}
        intro={
          <>
            {t.deadLetters.intro}
            {route && (
              <>
                {" "}
                <code>{route}</code> <a href={hashOf(["dead-letters"])}>{t.events.clear}</a>
              </>
            )}
          </>
        }
        list={groups}
        rowsOf={(all) => all}
        empty={emptyState(
          t.deadLetters.empty,
          t.deadLetters.emptyHint,
          <a href={hashOf(["routes"])}>{t.deadLetters.toRoutes}</a>,
        )}
      >
        {(all) => list(all, choose)}
      </ListView>
      {chosen && (
        <BulkDialog
          action={chosen.action}
          selections={[{ filter: filterOf(chosen.group) }]}
          detail={detail(chosen.group)}
          onClose={onClose}
        />
      )}
    </>
  );
}

function refresh(groups: Resource<ErrorGroup[]>): void {
  void groups.reload();
  void status.reload();
}

const filterOf = ({ route, error }: ErrorGroup) => ({ status: "failed" as const, route, error });

const list = (groups: readonly ErrorGroup[], choose: Choice<Chosen>["choose"]) => {
  const jobs = groups.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <p>{t.deadLetters.total(t.deadLetters.jobs(jobs), t.deadLetters.groups(groups.length))}</p>
      <ul class="cards">
        {groups.map((group) => (
          <Group key={groupKey(group)} group={group} choose={choose} />
        ))}
      </ul>
    </>
  );
};

function Group({ group, choose }: { group: ErrorGroup; choose: Choice<Chosen>["choose"] }): VNode {
  const { route, error, count, firstFailedAt, lastFailedAt, sources, types } = group;
  return (
    <li class="card">
      <div class="bar">
        <h2>
          <a href={hashOf(["routes", route])}>{route}</a>
        </h2>
        <span class="actions">
          {trend(group.trend, t.deadLetters.trend(sumOf(group.trend)))}
          <strong>{t.deadLetters.jobs(count)}</strong>
        </span>
      </div>
      <p class="error-text">{error === "" ? t.deadLetters.noError : printable(serverText(error))}</p>
      {terms([
        [t.deadLetters.firstSeen, ago(firstFailedAt)],
        [t.deadLetters.lastSeen, ago(lastFailedAt)],
        [t.events.source, countsOf(group, "source", sources)],
        [t.events.type, countsOf(group, "type", types)],
        [t.deadLetters.newest, <a href={eventHref(group)}>{group.eventId}</a>],
      ])}
      <div class="actions">
        {error !== "" && (
          <>
            <Button label={t.deadLetters.replay} onClick={choose({ group, action: "replay" })} />
            <Button class="quiet" label={t.deadLetters.discard} onClick={choose({ group, action: "discard" })} />
          </>
        )}
        <a class="button" href={hashOf(["events"], filterOf(group))}>
          {t.deadLetters.showEvents}
        </a>
      </div>
    </li>
  );
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

/** E.g. `order.paid (12), order.sent (3)`, the most frequent first. */
const countsOf = (group: ErrorGroup, kind: "source" | "type", counts: Record<string, number>) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_NAMES)
    .map(([name, count], index) => (
      <>
        {index > 0 && ", "}
        {printable(name)} (<a href={hashOf(["events"], { ...filterOf(group), [kind]: name })}>{formats.count(count)}</a>
        )
      </>
    ));

const detail = ({ route, error, count }: ErrorGroup) => (
  <>
    <p>
      <strong>{route}</strong> <span class="soft">({formats.count(count)})</span>
    </p>
    <p class="soft">{t.bulk.errorContains}</p>
    <p class="error-text">{printable(serverText(error))}</p>
  </>
);
