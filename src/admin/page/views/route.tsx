import type { ComponentChildren, VNode } from "preact";
import type { Route as RouteFacts, RouteItem } from "../answers.ts";
import { useChoice } from "../choice.ts";
import { activity } from "../components/activity.tsx";
import { Heading } from "../components/heading.tsx";
import { jobList } from "../components/job-list.tsx";
import { Section } from "../components/section.tsx";
import { shadowsOf } from "../components/shadows.tsx";
import { emptyState, shown, skeleton } from "../components/states.tsx";
import { terms } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { readGroups } from "../error-groups.ts";
import { status } from "../live.ts";
import { hashOf } from "../place.ts";
import { printable } from "../printable.ts";
import { readErrors, readRoute } from "../requests.ts";
import { useResource } from "../resource.ts";
import { eventHref, place } from "../router.ts";
import { formats, serverText, t } from "../texts/texts.ts";
import { endedCount, stateOf, switchButton, switchDialog } from "./routes.tsx";

/** A route: what it does, how it goes, and its open jobs. */
export function Route({ name }: { name: string }): VNode {
  const facts = useResource(name, (signal) => readRoute(name, signal));
  const switching = useChoice();
  const body = (route: RouteItem) => (
    <>
      <div class="bar">
        {stateOf(route)}
        {switchButton(route, switching.choose(true))}
      </div>
      <Section title={t.routes.does}>
        <div class="card">
          {targetText(route)}
          {route.configured && shown(facts, (data) => terms(words(data)), skeleton(4))}
          {counts(route)}
        </div>
      </Section>
      {lastError(name)}
      <section>{activity({ route: name })}</section>
      {shadowsOf(name)}
      <Section sectionRef={scrollToFailed} title={t.routes.failed}>
        {jobList(name, "failed")}
      </Section>
      <Section sectionRef={scrollToQueued} title={t.routes.queued}>
        {jobList(name, "queued")}
      </Section>
      {switching.value && switchDialog(route, switching.close)}
    </>
  );
  return (
    <>
      <Heading title={name} back="routes" />
      {shown(status, ({ routes }) => {
        const route = routes.find((one) => one.name === name);
        return route ? body(route) : emptyState(t.routes.unknown);
      })}
    </>
  );
}

/** Scrolls to a list that the address names, once the heading has scrolled to the top. */
const shownFirst = (list: string) => (section: HTMLElement | null) => {
  if (section && place.value.query.list === list) requestAnimationFrame(() => section.scrollIntoView());
};

const scrollToFailed = shownFirst("failed");
const scrollToQueued = shownFirst("queued");

const targetText = ({ handler, target }: RouteItem): VNode | null =>
  handler === null ? null : (
    <p>
      <span class="soft">{t.routes.handlers[handler]}</span> {target !== null && <code>{target}</code>}
    </p>
  );

/** The newest dead letter of a route. */
function LastError({ name }: { name: string }): VNode | null {
  const read = (signal: AbortSignal) => readGroups((cursor) => readErrors(name, cursor, signal));
  const groups = useResource(name, read, 30_000);
  const [newest] = (groups.data.value ?? []).toSorted((a, b) => (a.lastFailedAt < b.lastFailedAt ? 1 : -1));
  if (!newest) return null;
  return (
    <Section title={t.routes.lastError}>
      <p class="error-text">{printable(serverText(newest.error))}</p>
      <p class="small">
        <a href={eventHref(newest)}>{printable(newest.eventId)}</a> <span class="soft">{ago(newest.lastFailedAt)}</span>
      </p>
    </Section>
  );
}

const lastError = (name: string): VNode => <LastError key={name} name={name} />;

function counts({ name, queued, failed, processed, discarded }: RouteItem): VNode {
  const link = (list: string, count: number) => <a href={hashOf(["routes", name], { list })}>{formats.count(count)}</a>;
  return terms([
    [t.routes.queued, link("queued", queued)],
    [t.routes.failed, link("failed", failed)],
    [t.routes.processed, endedCount(name, "processed", processed)],
    [t.routes.discarded, endedCount(name, "discarded", discarded)],
  ]);
}

/** What the configuration says, in words. */
function words(route: RouteFacts): (readonly [string, ComponentChildren])[] {
  const { sources, types, when, orderBy, whenStuck, timeoutMs, concurrency, ratePerSecond, delaysMs, giveUpOn } = route;
  const code = (texts: readonly string[]) =>
    texts.map((text) => (
      <>
        <code key={text}>{text}</code>{" "}
      </>
    ));
  return [
    [
      t.routes.takes,
      sources === null
        ? t.routes.allSources
        : sources.map((source) => (
            <>
              <a key={source} href={hashOf(["sources", source])}>
                {source}
              </a>{" "}
            </>
          )),
    ],
    [t.routes.types, types.length === 0 ? t.routes.allTypes : code(types)],
    ...(when.length === 0 ? [] : [[t.routes.when, code(when)] as const]),
    [t.routes.retries, t.routes.attempts(route.attempts)],
    ...(delaysMs.length === 0
      ? []
      : [[t.routes.delays, delaysMs.map((ms) => formats.duration(ms)).join(", ")] as const]),
    ...(giveUpOn.length === 0 ? [] : [[t.routes.giveUpOn, code(giveUpOn)] as const]),
    [
      t.routes.order,
      orderBy === null ? (
        t.routes.anyOrder
      ) : (
        <>
          {t.routes.orderBy} <code>{orderBy}</code>. {t.routes.whenStuck[whenStuck]}
        </>
      ),
    ],
    [
      t.routes.rate,
      ratePerSecond === null
        ? t.routes.atOnce(concurrency)
        : `${t.routes.atOnce(concurrency)}, ${t.routes.perSecond(formats.count(ratePerSecond))}`,
    ],
    [t.routes.timeout, formats.duration(timeoutMs)],
  ];
}
