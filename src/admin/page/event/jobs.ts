import type { ComponentChildren, VNode } from "preact";
import type { EventDetail, Job } from "../answers.ts";
import { badge, statusBadge } from "../components/badge.ts";
import { lazyDetails } from "../components/lazy-details.ts";
import { terms } from "../components/table.ts";
import { ago, exactly, until } from "../components/time.ts";
import { tryButton } from "../components/try-button.ts";
import { html } from "../html.ts";
import { printable } from "../printable.ts";
import { eventHref } from "../router.ts";
import { formats, serverText, t } from "../texts/texts.ts";

type Attempt = Job["history"][number];

/** What the routes did with an event. */
export const jobs = ({ jobs: all, status }: EventDetail): VNode =>
  all.length > 0
    ? html`<ul class="cards">${all.map(card)}</ul>`
    : html`<p class="soft">${status === "queued" ? t.event.waitsForRoutes : t.event.noJobs}</p>`;

const card = (job: Job) => html`<li class="card" key=${job.route}>
  <div class="bar"><h3>${job.route}</h3>${statusBadge(job.status)}</div>
  ${terms(facts(job))}
  ${timeline(job)}
</li>`;

function facts({ route, waits, budget, probes, orderingKey, deadLetter, discarded }: Job) {
  const pairs: (readonly [string, ComponentChildren])[] = [];
  pairs.push([t.event.jobs, attemptsText(budget, probes)]);
  if (waits !== null) pairs.push([t.event.waits, waiting(waits, route)]);
  if (orderingKey !== null) pairs.push([t.event.orderingKey, html`<code>${printable(orderingKey)}</code>`]);
  if (deadLetter)
    pairs.push([
      t.event.deadSince,
      html`${exactly(deadLetter.failedAt)}<br />${printable(serverText(deadLetter.reason))}`,
    ]);
  if (discarded)
    pairs.push([t.event.discardedAt, html`${exactly(discarded.discardedAt)}<br />${printable(discarded.reason)}`]);
  return pairs;
}

function attemptsText({ used, of }: Job["budget"], probes: number): string {
  const attempts = of === null ? formats.count(used) : t.event.attemptsOf(used, of);
  return probes === 0 ? attempts : attempts + t.event.andProbes(probes);
}

function waiting({ reason, since, until: next, event }: NonNullable<Job["waits"]>, route: string): ComponentChildren {
  switch (reason) {
    case "running":
      return t.event.running;
    case "paused":
      return html`${t.event.routePaused} ${ago(since)}`;
    case "earlier_event":
      return (
        event &&
        html`${t.event.behind} <a href=${eventHref(event)}>${printable(event.eventId)}</a>${event.status === "failed" && html`<br />${t.event.behindFailed}`}`
      );
    case "target_unavailable":
      return html`${t.event.unavailable} ${ago(since)}<br />${next === null ? t.routes.probing : html`${t.routes.nextProbe} ${until(next)}`} ${tryButton(route)}`;
    case "delay":
      return next && html`${t.event.nextAttempt} ${until(next)}`;
    case "due":
      return t.event.due;
  }
}

function timeline({ history, attempts, probes }: Job): VNode {
  const missing = attempts + probes - history.length;
  if (history.length === 0 && missing <= 0) return html`<p class="soft">${t.event.noAttempts}</p>`;
  return html`${missing > 0 && html`<p class="soft small">${t.event.olderAttempts(missing)}</p>`}<ol class="timeline">${history.map((one, index) => attempt(one, index === history.length - 1))}</ol>`;
}

const OUTCOMES = {
  succeeded: ["good", "check"],
  failed: ["bad", "cross"],
  lease_expired: ["warn", "warning"],
} as const;

function attempt(
  { attempt: number, startedAt, finishedAt, outcome, error, response, responseStatus, isProbe }: Attempt,
  isLast: boolean,
): VNode {
  const [tone, sign] = OUTCOMES[outcome];
  const tookMs = Date.parse(finishedAt) - Date.parse(startedAt);
  return html`<li key=${`${number} ${startedAt}`}>
    <div class="bar"><strong>${isProbe ? t.event.probe : t.event.attempt(number)}</strong> <span class="badges">${responseStatus !== null && html`<code title=${t.event.status}>${responseStatus}</code>`} ${badge(tone, sign, t.event.outcomes[outcome])}</span></div>
    <p class="small">${exactly(startedAt)} <span class="soft">· ${t.event.took(formats.duration(tookMs))}</span></p>
    ${error !== null && html`<p class="error-text">${printable(serverText(error))}</p>`}
    ${response !== null && lazyDetails(t.event.answer, () => html`<pre tabindex="0">${printable(response)}</pre>`, isLast && outcome !== "succeeded")}
  </li>`;
}
