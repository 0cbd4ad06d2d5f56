import { setTimeout as delay } from "node:timers/promises";
import type { HeardEvent } from "../../events/listening.ts";
import type { Feed } from "./feed.ts";
import type { ListenerState } from "./state.ts";
import type { LocalTarget, TargetAnswer } from "./target.ts";

/** Shows what a listener does. */
export interface View {
  /** An event was sent, or only shown if `answer` is null. */
  show(event: HeardEvent, answer: TargetAnswer | null): void;
  /** What the listener waits for; null if it listens. */
  waits(reason: string | null): void;
  /** The store has lost events that the listener knew. */
  reset(): void;
}

interface Listener {
  feed: Feed;
  /** Null: events are only shown. */
  target: LocalTarget | null;
  state: Pick<ListenerState, "save">;
  view: View;
  /** Ends the listener once the event in flight is answered. */
  signal: AbortSignal;
}

/** A running listener. */
export interface Forwarding {
  /** Resolves when the listener has ended. Rejects with what only the operator can mend. */
  done: Promise<void>;
  /** Sends the last event again. */
  resend(): void;
  pause(isPaused: boolean): void;
}

const RETRY_MS = 500;
/** A target that ends the connection instead of answering gets the event so often. */
const TRIES = 3;

/** Sends the events behind a cursor to the target, one after another. The cursor is saved behind each answer. */
export function forward(from: string, { feed, target, state, view, signal }: Listener): Forwarding {
  let last: HeardEvent | undefined;
  let resumed = Promise.withResolvers<void>();
  resumed.resolve();
  /** One event at a time is in flight. */
  let turn: Promise<unknown> = Promise.resolve();

  /** Waits for an answer for as long as the target is away. Null if the listener ends before. */
  async function answerOf(event: HeardEvent, isAgain: boolean): Promise<TargetAnswer | null> {
    for (let tries = 1; target !== null && !signal.aborted; ) {
      const sent = await target.send(event, isAgain);
      const isLost = !sent.isAway && sent.answer.status === null && event.content !== null;
      if (!sent.isAway && !(isLost && tries++ < TRIES && MAY_PASS.test(sent.answer.error ?? ""))) {
        view.waits(null);
        return sent.answer;
      }
      if (sent.isAway) view.waits(`${target.url} is away (${sent.reason})`);
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    }
    return null;
  }

  function send(event: HeardEvent, isAgain: boolean): Promise<boolean> {
    const sending = turn.then(async () => {
      const answer = await answerOf(event, isAgain);
      if (answer === null && target !== null) return false;
      // Before it is shown: what was shown is not sent again after a kill.
      if (!isAgain) state.save(event.cursor);
      last = event;
      view.show(event, answer);
      return true;
    });
    turn = sending.catch(() => {});
    return sending;
  }

  async function run(): Promise<void> {
    for (let cursor = from; !signal.aborted; ) {
      await resumed.promise;
      const { events, cursor: next, isReset } = await feed.next(cursor, signal);
      if (isReset) view.reset();
      for (const event of events) {
        await resumed.promise;
        if (signal.aborted || !(await send(event, false))) return;
      }
      if (signal.aborted) return;
      if (next !== cursor) state.save(next);
      cursor = next;
    }
  }

  signal.addEventListener("abort", () => resumed.resolve());
  return {
    done: run().then(() => turn.then(() => {})),
    resend() {
      if (last !== undefined) void send(last, true);
    },
    pause(isPaused) {
      resumed.resolve();
      resumed = Promise.withResolvers();
      if (!isPaused || signal.aborted) resumed.resolve();
    },
  };
}

/** Errors of a connection that ended before the answer. */
const MAY_PASS = /ECONNRESET|EPIPE|socket hang up/;
