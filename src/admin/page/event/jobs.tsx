import type { ComponentChildren, VNode } from "preact";
import type { EventDetail, Job } from "../answers.ts";
import { badge, statusBadge } from "../components/badge.tsx";
import { lazyDetails } from "../components/lazy-details.tsx";
import { terms } from "../components/table.tsx";
import { ago, exactly, until } from "../components/time.tsx";
import { tryButton } from "../components/try-button.tsx";
import { printable } from "../printable.ts";
import { eventHref } from "../router.ts";
import { formats, serverText, t } from "../texts/texts.ts";

type Attempt = Job["history"][number];

/** What the routes did with an event. */
export const jobs = ({ jobs: all, status }: EventDetail): VNode =>
  all.length > 0 ? (
    <ul class="cards">{all.map(card)}</ul>
  ) : (
    <p class="soft">{status === "queued" ? t.event.waitsForRoutes : t.event.noJobs}</p>
  );

const card = (job: Job) => (
  <li class="card" key={job.route}>
    <div class="bar">
      <h3>{job.route}</h3>
      {statusBadge(job.status)}
    </div>
    {terms(facts(job))}
    {timeline(job)}
  </li>
);

function facts(job: Job) {
  const { route, waits, orderingKey, deadLetter, discarded } = job;
  const pairs: (readonly [string, ComponentChildren])[] = [];
  pairs.push([t.event.jobs, attemptsText(job)]);
  if (waits !== null) pairs.push([t.event.waits, waiting(waits, route)]);
  if (orderingKey !== null) pairs.push([t.event.orderingKey, <code>{printable(orderingKey)}</code>]);
  if (deadLetter)
    pairs.push([
      t.event.deadSince,
      <>
        {exactly(deadLetter.failedAt)}
        <br />
        {printable(serverText(deadLetter.reason))}
      </>,
    ]);
  if (discarded)
    pairs.push([
      t.event.discardedAt,
      <>
        {exactly(discarded.discardedAt)}
        <br />
        {printable(discarded.reason)}
      </>,
    ]);
  return pairs;
}

/** Those that the policy counts since the last replay, all, and those that cost nothing. */
function attemptsText({ attempts, replays, budget: { used, of }, probes }: Job): string {
  const counted = of === null ? formats.count(used) : t.event.attemptsOf(used, of);
  return [
    replays === 0 ? counted : t.event.inReplay(replays, counted),
    attempts > used ? t.event.inAll(attempts) : "",
    probes === 0 ? "" : t.event.andProbes(probes),
  ].join("");
}

function waiting({ reason, since, until: next, event }: NonNullable<Job["waits"]>, route: string): ComponentChildren {
  switch (reason) {
    case "running":
      return t.event.running;
    case "paused":
      return (
        <>
          {t.event.routePaused} {ago(since)}
        </>
      );
    case "earlier_event":
      return (
        event && (
          <>
            {t.event.behind} <a href={eventHref(event)}>{printable(event.eventId)}</a>
            {event.status === "failed" && (
              <>
                <br />
                {t.event.behindFailed}
              </>
            )}
          </>
        )
      );
    case "target_unavailable":
      return (
        <>
          {t.event.unavailable} {ago(since)}
          <br />
          {next === null ? (
            t.routes.probing
          ) : (
            <>
              {t.routes.nextProbe} {until(next)}
            </>
          )}{" "}
          {tryButton(route)}
        </>
      );
    case "delay":
      return (
        next && (
          <>
            {t.event.nextAttempt} {until(next)}
          </>
        )
      );
    case "due":
      return t.event.due;
  }
}

const timeline = ({ history }: Job): VNode =>
  history.length === 0 ? (
    <p class="soft">{t.event.noAttempts}</p>
  ) : (
    <ol class="timeline">{history.map((one, index) => attempt(one, index === history.length - 1))}</ol>
  );

const OUTCOMES = {
  succeeded: ["good", "check"],
  failed: ["bad", "cross"],
  lease_expired: ["warn", "warning"],
} as const;

/** Which attempt it is, e.g. `Attempt 2 of replay 1`. */
function nameOf({ attempt, replay, attemptOfBudget, isProbe }: Attempt): string {
  const name = isProbe ? t.event.probe : t.event.attempt(attemptOfBudget ?? attempt);
  return replay ? t.event.ofReplay(name, replay) : name;
}

function attempt(one: Attempt, isLast: boolean): VNode {
  const { startedAt, finishedAt, outcome, error, response, responseStatus } = one;
  const [tone, sign] = OUTCOMES[outcome];
  const tookMs = Date.parse(finishedAt) - Date.parse(startedAt);
  return (
    <li key={`${one.attempt} ${startedAt}`}>
      <div class="bar">
        <strong>{nameOf(one)}</strong>{" "}
        <span class="badges">
          {responseStatus !== null && <code title={t.event.status}>{responseStatus}</code>}{" "}
          {badge(tone, sign, t.event.outcomes[outcome])}
        </span>
      </div>
      <p class="small">
        {exactly(startedAt)} <span class="soft">· {t.event.took(formats.duration(tookMs))}</span>
      </p>
      {error !== null && <p class="error-text">{printable(serverText(error))}</p>}
      {response !== null &&
        lazyDetails(
          t.event.answer,
          () => <pre tabIndex={0}>{printable(response)}</pre>,
          isLast && outcome !== "succeeded",
        )}
    </li>
  );
}
