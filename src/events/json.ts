import { isUtf8 } from "node:buffer";
import { bodyFault } from "../lib/body-fault.ts";
import { isoTime } from "../lib/iso-time.ts";
import { originOf } from "./captured.ts";
import type { Chart, OUTCOMES } from "./stats.ts";
import type { EventDetail, EventSummary, JobDetail, OpenJob, UnavailableRoute } from "./store.ts";
import { type Waiting, waitingOf } from "./waiting.ts";

/** The summary of an event in JSON output. Its members and their order are stable. */
export function summaryJson(event: EventSummary) {
  const { source, eventId, type, status, attempts, receivedAt, processedAt, lastError } = event;
  return {
    source,
    eventId,
    type,
    status,
    attempts,
    receivedAt: isoTime(receivedAt),
    processedAt: isoTime(processedAt),
    lastError,
  };
}

/** Why the payload is not what its media type says; null if it is. */
function malformedOf({ payload, contentType }: Pick<EventDetail, "payload" | "contentType">): string | null {
  return bodyFault(Buffer.from(payload), contentType);
}

/** What is known beside an event: why its jobs wait, and how many attempts they have. */
interface Surroundings {
  unavailable: readonly UnavailableRoute[];
  /** The attempts that a route allows. Null if it is not known. */
  attemptsOf(route: string): number | null;
  now: number;
}

/** An event with its jobs, conflicts and repeats in JSON output, without its payload. */
export function detailJson(event: EventDetail, around: Surroundings) {
  return {
    ...summaryJson(event),
    address: event.address,
    origin: originOf(event.secret),
    secret: event.secret,
    contentType: event.contentType,
    headers: event.headers,
    malformed: malformedOf(event),
    erased: event.erased && { ...event.erased, erasedAt: isoTime(event.erased.erasedAt) },
    jobs: event.jobs.map((job) => jobInDetailJson(job, around)),
    conflicts: event.conflicts.map(({ number, payloadSha256, deliveries, firstAt, lastAt, address, payload }) => ({
      number,
      payloadSha256,
      deliveries,
      firstAt: isoTime(firstAt),
      lastAt: isoTime(lastAt),
      address,
      ...(payload === null ? { payload } : payloadJson(payload)),
    })),
    repeats: event.repeats.map(
      ({ number, eventId, type, deliveries, firstAt, lastAt, address, headers, replayedAs }) => ({
        number,
        eventId,
        type,
        deliveries,
        firstAt: isoTime(firstAt),
        lastAt: isoTime(lastAt),
        address,
        headers,
        replayedAs,
      }),
    ),
  };
}

function jobInDetailJson(job: JobDetail, { unavailable, attemptsOf, now }: Surroundings) {
  const { discarded, history, probes, replays, attemptsOfBudget: used } = job;
  const allowed = attemptsOf(job.route);
  return {
    ...jobJson(job),
    replays,
    probes,
    // The route may have allowed more at the time of the attempts.
    budget: { used, of: allowed && Math.max(used, allowed) },
    waits: waitingJson(waitingOf(job, unavailable, now)),
    discarded: discarded && { ...discarded, discardedAt: isoTime(discarded.discardedAt) },
    history: history.map((attempt) => ({
      ...attempt,
      startedAt: isoTime(attempt.startedAt),
      finishedAt: isoTime(attempt.finishedAt),
    })),
  };
}

function waitingJson(waiting: Waiting | null) {
  if (waiting === null) return null;
  return {
    reason: waiting.reason,
    since: "since" in waiting ? isoTime(waiting.since) : null,
    until: "until" in waiting ? isoTime(waiting.until) : null,
    event: "event" in waiting ? waiting.event : null,
  };
}

function jobJson(job: Omit<OpenJob, "source" | "eventId" | "type" | "receivedAt">) {
  const { route, status, attempts, orderingKey, dueAt, leased, lastError, deadLetter } = job;
  return {
    route,
    status,
    attempts,
    // A lease means that an attempt is running.
    nextAttemptAt: leased ? null : isoTime(dueAt),
    leased,
    orderingKey,
    lastError,
    deadLetter: deadLetter && { ...deadLetter, failedAt: isoTime(deadLetter.failedAt) },
  };
}

/** A queued or failed job in JSON output, with its event. */
export function openJobJson({ source, eventId, type, receivedAt, ...job }: OpenJob) {
  return { source, eventId, type, receivedAt: isoTime(receivedAt), ...jobJson(job) };
}

/** A chart in JSON output. */
export function chartJson({ points, total, sums }: Chart) {
  return {
    items: points.map(({ at, ...counts }) => ({ at: isoTime(at), ...countsJson(counts) })),
    total: countsJson(total),
    sums: sums.map(countsJson),
  };
}

/** Counts with the names of JSON members. */
function countsJson<T extends Record<(typeof OUTCOMES)[number], number>>({
  dead_lettered: deadLettered,
  ...counts
}: T) {
  return { ...counts, deadLettered };
}

/** A payload in JSON output: as text, and in Base64 if it is not UTF-8, which the text cannot hold. */
export function payloadJson(payload: Uint8Array): { payload: string; payloadBase64?: string } {
  const text = payloadText(payload);
  return isUtf8(payload)
    ? { payload: text }
    : { payload: text, payloadBase64: Buffer.from(payload).toString("base64") };
}

/** A payload as text to look at. Bytes that are not UTF-8 become U+FFFD. */
export function payloadText(payload: Uint8Array): string {
  return Buffer.from(payload).toString("utf8");
}
