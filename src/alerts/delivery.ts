import { describeError } from "../errors.ts";
import type { Log } from "../log.ts";
import { NotifierError } from "./notifiers/notifier-error.ts";
import type { Notifier, Notify } from "./notifiers.ts";
import type { AlertStore, QueuedMessage } from "./store.ts";
import type { SendOutcome } from "./tellings.ts";

interface DeliveryOptions {
  store: Pick<AlertStore, "nextMessages" | "removeMessage" | "delayMessage">;
  notify: Notify;
  log: Log;
  now: () => number;
}

const FIRST_DELAY_MS = 5000;
const MAX_DELAY_MS = 5 * 60_000;
// A notifier may ask for a longer delay. An alert must not wait for much longer, whatever it asks for.
const MAX_RETRY_AFTER_MS = 3_600_000;
// An older message would mislead more than help.
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** Creates the delivery. A notifier that is down keeps no other one waiting. */
export function createAlertDelivery({ store, notify, log, now }: DeliveryOptions) {
  const stopping = new AbortController();
  /** Names of notifiers that a message is being sent to. */
  const busy = new Map<string, Promise<void>>();
  let outcomes: SendOutcome[] = [];

  function note({ notifier, message }: QueuedMessage, state: SendOutcome["state"], error: string | null): void {
    outcomes.push({ notifier, message, state, at: now(), error });
  }

  async function send(notifier: Notifier, queued: QueuedMessage): Promise<void> {
    const { id, message, attempts } = queued;
    try {
      await notify(notifier, message, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const { retryAfterMs, isFinal } = error instanceof NotifierError ? error : { retryAfterMs: 0, isFinal: false };
      const isOver = isFinal || now() - message.at > GIVE_UP_AFTER_MS;
      const why = describeError(error);
      log.error(
        { event: "alert_not_sent", notifier: notifier.name, attempt: attempts + 1, error: why },
        resultText(isFinal, isOver),
      );
      const delayMs = Math.max(
        Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempts),
        Math.min(MAX_RETRY_AFTER_MS, retryAfterMs),
      );
      note(queued, isOver ? "failed" : "retried", why);
      if (isOver) await store.removeMessage(id);
      else await store.delayMessage(id, now() + delayMs);
      return;
    }
    note(queued, "sent", null);
    await store.removeMessage(id);
  }

  /** Sends the messages of a notifier one after the other. */
  async function sendAll(notifier: Notifier, first: QueuedMessage): Promise<void> {
    for (let next: QueuedMessage | undefined = first; next !== undefined && !stopping.signal.aborted; ) {
      await send(notifier, next);
      next = (await store.nextMessages()).find((queued) => queued.notifier === notifier.name && queued.dueAt <= now());
    }
  }

  return {
    /** Sends the messages that are due. Rejects if the store does not answer. */
    async run(notifiers: readonly Notifier[]): Promise<void> {
      const known = new Map(notifiers.map((notifier) => [notifier.name, notifier]));
      for (const queued of await store.nextMessages()) {
        const notifier = known.get(queued.notifier);
        if (notifier === undefined) {
          note(queued, "failed", "it is no longer configured");
          await store.removeMessage(queued.id);
        } else if (queued.dueAt <= now() && !busy.has(notifier.name)) {
          const sending = sendAll(notifier, queued)
            // The store did not answer. The message is still there for the next run.
            .catch(() => {})
            .finally(() => busy.delete(notifier.name));
          busy.set(notifier.name, sending);
        }
      }
    },
    /** What has come of messages since the last call. */
    takeOutcomes(): SendOutcome[] {
      const taken = outcomes;
      outcomes = [];
      return taken;
    },
    /** Ends what is being sent. It is sent again later. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(busy.values());
    },
  };
}

function resultText(isFinal: boolean, isOver: boolean): string {
  if (isFinal) return "the alert was sent to some only, and is not sent again";
  return isOver ? "the alert was not sent for a day, and is given up" : "the alert will be sent again";
}

/** Sends queued messages, each until it has arrived. */
export type AlertDelivery = ReturnType<typeof createAlertDelivery>;
