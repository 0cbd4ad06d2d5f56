import { type JobStatus, statusOf } from "./event.ts";
import type { EventFilter, EventPage, EventSummary } from "./store.ts";

interface ListedJob {
  route: string;
  status: JobStatus;
  attempts: number;
  endedAt: number | null;
  lastError: string | null;
}

/** The line of an event in a list. `jobs` is null before fan-out. */
export function summaryOf(
  event: Pick<EventSummary, "source" | "eventId" | "type" | "receivedAt">,
  jobs: readonly ListedJob[] | null,
): EventSummary {
  const status = jobs === null ? "queued" : statusOf(jobs.map((job) => job.status));
  const all = jobs ?? [];
  const endedAt = (job: ListedJob) => job.endedAt ?? 0;
  const failed = all.filter(({ lastError }) => lastError !== null).sort((a, b) => endedAt(b) - endedAt(a));
  return {
    source: event.source,
    eventId: event.eventId,
    type: event.type,
    status,
    attempts: Math.max(0, ...all.map(({ attempts }) => attempts)),
    routes: all.map(({ route }) => route),
    receivedAt: event.receivedAt,
    processedAt: status === "processed" && all.length > 0 ? Math.max(...all.map(endedAt)) : null,
    lastError: failed[0]?.lastError ?? null,
  };
}

/** An event in a list, with its jobs; null before fan-out. */
export type ListedEvent = Parameters<typeof summaryOf>[0] & { id: number; jobs: readonly ListedJob[] | null };

/** A page of a list: its events, newest first. In that of a route they are as its jobs are. */
export function listPage(
  events: readonly ListedEvent[],
  { limit, after, route }: Pick<EventFilter, "limit" | "after" | "route">,
): EventPage {
  const ofRoute = (jobs: readonly ListedJob[]) => jobs.filter((job) => job.route === route);
  return {
    items: events.map(({ jobs, ...event }) =>
      route === undefined || jobs === null
        ? summaryOf(event, jobs)
        : { ...summaryOf(event, ofRoute(jobs)), routes: jobs.map((job) => job.route) },
    ),
    older: events.length === limit ? String(events.at(-1)?.id) : null,
    newer: String(events[0]?.id ?? after ?? 0),
  };
}
