import { setTimeout as delay } from "node:timers/promises";
import { AppError, describeError } from "../../errors.ts";
import {
  beginListening,
  countWaiting,
  type HeardEvent,
  hear,
  type ListenedStore,
  type ListenFilter,
} from "../../events/listening.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { retry } from "../../lib/retry.ts";
import { NoAnswerError, OperationProblem, type RemoteServer } from "../remote.ts";

/** What a feed has read. */
interface Fed {
  events: HeardEvent[];
  cursor: string;
  /** The store has lost events, and the feed went on with those received after the last one. */
  isReset: boolean;
}

/** The stored events, oldest first. */
export interface Feed {
  /** The cursor to begin with: now, or with the events received since a time in Unix milliseconds. */
  begin(since: number | null): Promise<string>;
  /** The number of events that wait behind a cursor, up to one more than `most`. */
  count(cursor: string, most: number): Promise<number>;
  /** The next events behind a cursor. Waits for a while if there are none. */
  next(cursor: string, signal: AbortSignal): Promise<Fed>;
}

const LIMIT = 100;
/** How often an idle listener looks into the store of its machine. */
const LOOK_EVERY_MS = 1000;

/** The events of the store of this machine. */
export function storeFeed(store: ListenedStore, filter: ListenFilter, now: () => number): Feed {
  return {
    begin: (since) => beginListening(store, since, now()),
    count: (cursor, most) => countWaiting(store, cursor, filter, most),
    async next(cursor, signal) {
      const heard = await hear(store, cursor, filter, LIMIT);
      if (heard.cursor === cursor) await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
      return heard;
    },
  };
}

/** Which events of another machine are asked for. */
interface RemoteFilter {
  source?: string | undefined;
  type?: string | undefined;
  route?: string | undefined;
}

interface Line {
  cursor: string;
  reset?: boolean;
  waiting?: number;
}

/** An event as the API answers it. */
interface EventLine extends Line, Pick<HeardEvent, "source" | "eventId" | "type"> {
  receivedAt: string;
  contentType: string;
  headers: Record<string, string>;
  payload: string | null;
  payloadBase64?: string;
}

/** Longer than a server holds a request. */
const TIMEOUT_MS = 40_000;

/** The events of a server on another machine. */
export function remoteFeed(server: RemoteServer, filter: RemoteFilter): Feed {
  async function ask(query: Record<string, string | number | undefined>, signal?: AbortSignal) {
    const options = { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) };
    const text = await server.text("listen", { ...filter, ...query }, options);
    const lines = text.split("\n");
    // A proxy may have cut the answer.
    if (lines.pop() !== "" || lines.length === 0) throw new NoAnswerError("the answer has no end");
    const parsed = lines.map((line) => JSON.parse(line) as Line);
    return { events: parsed.slice(0, -1) as EventLine[], last: parsed.at(-1) as Line };
  }

  return {
    async begin(since) {
      return (await ask({ since: since === null ? undefined : isoTime(since) })).last.cursor;
    },
    async count(cursor, most) {
      return (await ask({ after: cursor, count: most })).last.waiting ?? 0;
    },
    async next(cursor, signal) {
      const { events, last } = await whileAwake(signal, (awake) => ask({ after: cursor }, awake));
      return { events: events.map(eventOf), cursor: last.cursor, isReset: last.reset === true };
    },
  };
}

function eventOf({ receivedAt, contentType, headers, payload, payloadBase64, ...event }: EventLine): HeardEvent {
  const bytes = payloadBase64 === undefined ? Buffer.from(payload ?? "") : Buffer.from(payloadBase64, "base64");
  const content = payload === null ? null : { payload: bytes, contentType, headers: JSON.stringify(headers) };
  return { id: 0, ...event, receivedAt: Date.parse(receivedAt), content };
}

/** A process that was suspended for this long may have a connection that nobody answers any more. */
const ASLEEP_MS = 5000;

/** Runs a request, and aborts it when the process has slept: the connection may be dead without telling. */
async function whileAwake<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const slept = new AbortController();
  let lookedAt = Date.now();
  const looks = setInterval(() => {
    if (Date.now() - lookedAt > ASLEEP_MS) slept.abort();
    lookedAt = Date.now();
  }, 1000);
  try {
    return await run(AbortSignal.any([signal, slept.signal]));
  } finally {
    clearInterval(looks);
  }
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;

/** Tells what keeps the listener from its events; null when nothing does any more. */
type OnTrouble = (trouble: string | null) => void;

/**
 * Reads of a feed, again and again while a store or a server is away. Null if the signal ends it. What only the
 * operator can mend is thrown.
 */
export async function patiently<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  onTrouble: OnTrouble,
): Promise<T | null> {
  function waitMs(error: unknown, tries: number): number {
    if (signal.aborted || !isPassing(error)) throw error;
    onTrouble(describeError(error instanceof AppError ? (error.cause ?? error) : error));
    return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS);
  }
  try {
    const found = await retry(read, waitMs, signal);
    onTrouble(null);
    return found;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/** A feed whose `next` waits for a store or a server that is away, as {@link patiently} does. */
export const patient = (feed: Feed, onTrouble: OnTrouble): Feed => ({
  ...feed,
  next: async (cursor, signal) =>
    (await patiently(() => feed.next(cursor, signal), signal, onTrouble)) ?? { events: [], cursor, isReset: false },
});

/** Whether an error may end by itself: the store or the server is away, or a proxy answers in its place. */
function isPassing(error: unknown): boolean {
  if (error instanceof AppError) return error.code === "store_unavailable";
  if (error instanceof OperationProblem)
    return error.status >= 500 || error.status === 429 || /^[0-9]/.test(error.code);
  return error instanceof NoAnswerError;
}
