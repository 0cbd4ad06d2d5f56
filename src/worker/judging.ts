import { endsWithin } from "../lib/bounded.ts";

/** How long it may take to read what the routes ask of one event. A body of 25 MB takes a part of it. */
export const JUDGING_TIMEOUT_MS = 2000;

/** Why the conditions of a route say nothing about an event. */
export const NOT_JUDGED = `its conditions could not be judged within ${JUDGING_TIMEOUT_MS / 1000} s`;
const ENDED_SERVER = "its conditions could not be judged: the server ended twice meanwhile";

// Smaller payloads cannot end the process. The mark costs as much as the judging of a small event.
const MARKED_FROM_BYTES = 64 * 1024;

// The other requests wait no longer than this for a step.
const STEP_MS = 50;

/** The events that are being judged, by their numbers. */
export interface BeingJudged {
  events: number[];
  /** It is one event, which did not end the first time. */
  isSecond: boolean;
}

/** Remembers what is being judged when the process ends. It never fails. */
export interface JudgingMark {
  /** What was being judged when the last process ended; null if nothing was. */
  read(): Promise<BeingJudged | null>;
  write(judged: BeingJudged): Promise<void>;
  clear(): Promise<void>;
  /** Nothing is being judged any more. */
  close(): Promise<void>;
}

interface JudgedEvent {
  id: number;
  /** The payload; null if no route reads it. */
  payload: { payload: Uint8Array } | null;
}

/** Creates the judging of a worker. */
export function createJudging(mark: JudgingMark | undefined, timeoutMs = JUDGING_TIMEOUT_MS) {
  /** Those whose judging did not end once. */
  const suspects = new Set<number>();
  /** The one during whose second judging the process ended. */
  let ended: number | undefined;
  let hasRead = false;

  async function readMark(): Promise<void> {
    if (hasRead) return;
    const left = await mark?.read();
    hasRead = true;
    for (const event of left?.events ?? []) suspects.add(event);
    if (left?.isSecond) [ended] = left.events;
  }

  return {
    /**
     * The results of the first of these events. There may be none: one that did not end is judged again by itself, and
     * set aside if it does not end then either.
     */
    async firstOf<Event extends JudgedEvent, Result>(
      events: readonly Event[],
      judge: (event: Event) => Result,
      setAside: (event: Event, reason: string) => Result,
    ): Promise<Result[]> {
      if (!events.some(({ payload }) => payload !== null)) return events.map(judge);
      await readMark();
      const chosen = upToSuspect(events, suspects);
      const [first] = chosen;
      const isSecond = first !== undefined && suspects.delete(first.id);
      if (isSecond && first.id === ended) {
        await mark?.clear();
        return [setAside(first, ENDED_SERVER)];
      }
      const isMarked = isSecond || bytesOf(chosen) >= MARKED_FROM_BYTES;
      if (isMarked) await mark?.write({ events: chosen.map(({ id }) => id), isSecond });
      const { results, fault } = judgeFirst(chosen, judge, timeoutMs);
      if (isMarked) await mark?.clear();
      const next = chosen[results.length];
      if (fault === null || next === undefined) return results;
      if (isSecond) return [setAside(next, fault)];
      suspects.add(next.id);
      return results;
    },
  };
}

/** Those before the next suspect. A suspect is alone. */
function upToSuspect<Event extends JudgedEvent>(events: readonly Event[], suspects: ReadonlySet<number>): Event[] {
  const next = events.findIndex(({ id }) => suspects.has(id));
  return events.slice(0, next === -1 ? undefined : Math.max(next, 1));
}

const bytesOf = (events: readonly JudgedEvent[]) =>
  events.reduce((sum, { payload }) => sum + (payload?.payload.length ?? 0), 0);

/** Judges events one by one until there is no time left. The one behind the results has the fault, if there is one. */
function judgeFirst<Event, Result>(
  events: readonly Event[],
  judge: (event: Event) => Result,
  timeoutMs: number,
): { results: Result[]; fault: string | null } {
  const results: Result[] = [];
  const until = performance.now() + STEP_MS;
  try {
    const hasEnded = endsWithin(timeoutMs, () => {
      for (const event of events) {
        results.push(judge(event));
        if (performance.now() > until) return;
      }
    });
    return { results, fault: hasEnded ? null : NOT_JUDGED };
  } catch (error) {
    // The message may have parts of the payload.
    const name = error instanceof Error ? error.name : "error";
    return { results, fault: `its conditions could not be judged: ${name}` };
  }
}
