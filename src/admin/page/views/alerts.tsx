import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { Alert, AlertList, Telling, TestedNotifier } from "../answers.ts";
import { useChoice } from "../choice.ts";
import { announce } from "../components/announcer.tsx";
import { badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Heading } from "../components/heading.tsx";
import { icon } from "../components/icon.tsx";
import { remedyText } from "../components/remedy.tsx";
import { Section } from "../components/section.tsx";
import { emptyState, failureText, shown, skeleton } from "../components/states.tsx";
import { terms } from "../components/table.tsx";
import { ago, exactly } from "../components/time.tsx";
import { alerts, bySeverity } from "../live.ts";
import { hashOf } from "../place.ts";
import { testAlerts, unsilence } from "../requests.ts";
import { NotifierDialog } from "../setup/notifier-dialog.tsx";
import { alertText, alertTitle, named, serverText, t } from "../texts/texts.ts";
import { silenceDialog } from "./silence-dialog.tsx";

const STATES = ["firing", "pending", "resolved"] as const;

const SEVERITIES = {
  info: ["note", "bell"],
  warning: ["warn", "warning"],
  critical: ["bad", "warning"],
} as const;

/** What labels are called. */
const LABELS = {
  route: t.routes.route,
  source: t.sources.source,
  secret: t.sources.secret,
  network: t.session.network,
  token: "Token",
};

interface Actions {
  addNotifier(): void;
  silence(alert: Alert): () => void;
  unsilence(name?: string): void;
}

/** The alerts: what is wrong now, and what was. */
export function Alerts(): VNode {
  const silencing = useChoice<Alert>();
  const adding = useChoice();
  const result = useSignal("");
  const actions: Actions = {
    addNotifier: adding.choose(true),
    silence: silencing.choose,
    async unsilence(name) {
      const { removed } = await unsilence(name);
      await alerts.reload();
      result.value = removed === 0 ? t.alerts.noneEnded : t.alerts.silencesEnded(removed);
      announce(result.value);
    },
  };
  async function test(): Promise<void> {
    result.value = await testAlerts().then(({ items }) => testedText(items), failureText);
    announce(result.value);
  }
  return (
    <>
      <Heading title={t.views.alerts}>
        <Button class="quiet" label={t.alerts.test} onClick={test} />
      </Heading>
      {result.value !== "" && <p class="note">{result.value}</p>}
      {shown(
        alerts,
        ({ items, notifiers }) => (
          <>
            {whoIsTold(notifiers, actions)}
            {unsilenceAll(items, actions)}
            {STATES.map((state) => group(state, items, actions))}
          </>
        ),
        skeleton(8),
      )}
      {silencing.value && silenceDialog(silencing.value, silencing.close)}
      {adding.value && <NotifierDialog onClose={adding.close} />}
    </>
  );
}

const testedText = (items: readonly TestedNotifier[]) =>
  items.length === 0
    ? t.alerts.noNotifier
    : items.map(({ name, error }) => `${name}: ${error === null ? t.alerts.sent : serverText(error)}`).join(" · ");

function whoIsTold(notifiers: AlertList["notifiers"], { addNotifier }: Actions): VNode {
  if (notifiers.length === 0)
    return (
      <div class="note warn">
        {icon("warning")} {t.alerts.noNotifier}
        <br />
        <Button label={`${t.alerts.addNotifier}…`} onClick={addNotifier} />
      </div>
    );
  return (
    <p class="soft">
      {t.alerts.sentTo} {notifiers.map(({ name }) => name).join(", ")}.{" "}
      <Button class="link" label={`${t.alerts.addNotifier}…`} onClick={addNotifier} />
    </p>
  );
}

function unsilenceAll(items: readonly Alert[], actions: Actions): VNode | null {
  if (!items.some(({ silencedUntil }) => silencedUntil !== null)) return null;
  return (
    <div class="actions">
      <Button class="quiet" label={t.alerts.unsilenceAll} onClick={() => actions.unsilence()} />
    </div>
  );
}

function group(state: (typeof STATES)[number], items: readonly Alert[], actions: Actions): VNode | null {
  const all = items.filter((alert) => alert.state === state).sort(bySeverity);
  if (all.length === 0 && state !== "firing") return null;
  return (
    <Section key={state} title={t.alerts[state]}>
      {all.length === 0 ? (
        emptyState(t.alerts.noneFires, t.alerts.noneFiresHint, <code>authserve alerts test</code>)
      ) : (
        <ul class="cards">{all.map((alert) => card(alert, actions))}</ul>
      )}
    </Section>
  );
}

function card(alert: Alert, actions: Actions): VNode {
  const { id, name, title, severity, labels, summary, remedy, view, silencedUntil } = alert;
  const [tone, sign] = alert.state === "resolved" ? (["calm", "check"] as const) : SEVERITIES[severity];
  return (
    <li class="card" key={id}>
      <div class="bar">
        <h3>{view === OWN_VIEW ? alertTitle(name, title) : <a href={placeOf(alert)}>{alertTitle(name, title)}</a>}</h3>
        {badge(tone, sign, t.alerts.severity[severity])}
      </div>
      <p>{alertText(name, summary)}</p>
      {terms([
        [t.alerts.name, <code>{name}</code>],
        ...Object.entries(labels).map(([label, value]) => [named(LABELS, label) ?? label, value] as const),
        ...timesOf(alert),
        [t.alerts.remedy, remedyText(remedy)],
        ...(silencedUntil === null ? [] : [[t.alerts.silencedUntil, exactly(silencedUntil)] as const]),
      ])}
      {alert.state !== "pending" && toldOf(alert)}
      {alert.state !== "resolved" && (
        <div class="actions">
          {hasReachedNobody(alert) && (
            <Button class="quiet" label={`${t.alerts.addNotifier}…`} of={name} onClick={actions.addNotifier} />
          )}
          <Button class="quiet" label={t.alerts.silence} of={name} onClick={actions.silence(alert)} />
          {silencedUntil !== null && (
            <Button class="quiet" label={t.alerts.unsilence} of={name} onClick={() => actions.unsilence(name)} />
          )}
        </div>
      )}
    </li>
  );
}

const TELLINGS = {
  queued: ["calm", "clock"],
  sent: ["good", "check"],
  retried: ["warn", "clock"],
  failed: ["bad", "cross"],
} as const;

/** Whether the notifiers there are have failed, or there was none. */
const hasReachedNobody = ({ told, silencedUntil }: Alert) =>
  told !== null && silencedUntil === null && !told.some(({ state }) => state === "sent" || state === "queued");

/** Which notifiers got an alert, and which did not. */
const toldOf = ({ told, silencedUntil }: Alert): VNode => (
  <div class="told">
    <span class="soft">{t.alerts.told}:</span> {told === null && t.unknown}
    {told?.length === 0 && (silencedUntil === null ? badge("warn", "warning", t.alerts.nobody) : t.alerts.nobodyYet)}
    <ul>{told?.toSorted((a, b) => a.notifier.localeCompare(b.notifier) || a.of.localeCompare(b.of)).map(tellingOf)}</ul>
  </div>
);

function tellingOf({ notifier, of, state, at, error }: Telling): VNode {
  const [tone, sign] = TELLINGS[state];
  return (
    <li key={`${of} ${notifier}`}>
      <code>{notifier}</code>
      {of === "resolved" && <span>{t.alerts.ofEnd}</span>}
      {badge(tone, sign, t.alerts.tellings[state])}
      <span class="soft">{ago(at)}</span>
      {error !== null && <span>{serverText(error)}</span>}
    </li>
  );
}

const OWN_VIEW = "#/alerts";

/** Where the page shows more of an alert: the page of its route or source, if it is about one. */
function placeOf({ view, labels: { route, source } }: Alert): string {
  if (view === "#/routes" && route !== undefined) return hashOf(["routes", route]);
  if (view === "#/sources" && source !== undefined) return hashOf(["sources", source]);
  return view;
}

function timesOf({ since, startsAt, endsAt }: Alert): (readonly [string, VNode])[] {
  const times = [
    [t.alerts.since, since],
    [t.alerts.fired, startsAt],
    [t.alerts.ended, endsAt],
  ] as const;
  return times.flatMap(([label, at]) => (at === null ? [] : [[label, exactly(at)] as const]));
}
