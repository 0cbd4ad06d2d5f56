import { describeError } from "../errors.ts";
import { timeout } from "../lib/timeout.ts";
import type { Log } from "../log.ts";
import type { AlertRecord } from "./alert.ts";
import type { AlertChanges, AlertStore, QueuedMessage } from "./store.ts";

type WatchedStore = Pick<AlertStore, "read" | "save" | "nextMessages" | "removeMessage" | "delayMessage">;

/** A store of alerts that goes on from memory while the one behind it fails. */
interface AlertMemory extends WatchedStore {
  /** Why changes wait to be saved; null if none does. */
  readonly fault: string | null;
}

// An alert of a fault that lasts must not wait for the store that has it.
const TIMEOUT_MS = 2000;

/**
 * Keeps alerts and messages in memory while the store does not answer or refuses writes, and saves them when it does
 * again. So an outage of the store is told, too. A message that was sent from memory is not sent again.
 */
export function createAlertMemory(store: WatchedStore, log: Log): AlertMemory {
  let known: Awaited<ReturnType<AlertStore["read"]>> = { alerts: [], silences: [] };
  let unsaved: AlertChanges[] = [];
  let messages: QueuedMessage[] = [];
  let listed: QueuedMessage[] = [];
  let lastId = 0;
  let fault: string | null = null;
  /** Messages that were sent, and that the store may still have. */
  const sent = new Set<string>();
  /** Delays that the store has refused. */
  const delayed = new Map<number, Pick<QueuedMessage, "dueAt" | "attempts">>();
  /** A question that the store has not answered in time. */
  let hanging: Promise<unknown> | undefined;

  /** Asks the store, unless it hangs. */
  function ask<T>(question: () => Promise<T>): Promise<T> {
    if (hanging) return Promise.reject(new Error("the store does not answer"));
    const answer = question();
    return timeout(TIMEOUT_MS, answer, () => {
      const settled = answer
        .catch(() => {})
        .finally(() => {
          if (hanging === settled) hanging = undefined;
        });
      hanging = settled;
      return new Error(`no answer within ${TIMEOUT_MS} ms`);
    });
  }

  /** Messages of the store, without those that were sent. */
  async function storedMessages(): Promise<QueuedMessage[]> {
    const stored = await ask(() => store.nextMessages()).catch(() => []);
    const again = stored.filter((message) => sent.has(nameOf(message)));
    for (const message of again) await remove(message).catch(() => {});
    return stored
      .filter((message) => !again.includes(message))
      .map((message) => ({ ...message, ...delayed.get(message.id) }));
  }

  async function remove(message: QueuedMessage): Promise<void> {
    await ask(() => store.removeMessage(message.id));
    sent.delete(nameOf(message));
    delayed.delete(message.id);
  }

  function remember(changes: AlertChanges): void {
    unsaved.push(changes);
    known = { ...known, alerts: changed(known.alerts, changes) };
    const { message, notifiers } = changes;
    if (message === null) return;
    for (const notifier of notifiers) {
      lastId--;
      messages.push({ id: lastId, notifier, message, attempts: 0, dueAt: message.at });
    }
  }

  /** Saves what has waited, with the messages that have not been sent. */
  async function saveAll(): Promise<void> {
    for (let [first] = unsaved; first !== undefined; [first] = unsaved) {
      const { message } = first;
      const waiting = messages.filter((queued) => queued.message === message);
      await ask(() => store.save({ ...(first as AlertChanges), notifiers: waiting.map(({ notifier }) => notifier) }));
      unsaved = unsaved.slice(1);
      messages = messages.filter((queued) => queued.message !== message);
    }
    fault = null;
  }

  return {
    get fault() {
      return fault;
    },
    async read() {
      try {
        await saveAll();
        known = await ask(() => store.read());
      } catch {
        // What is known goes on, with the changes that wait.
      }
      return known;
    },
    async save(changes) {
      try {
        await saveAll();
        await ask(() => store.save(changes));
      } catch (error) {
        const text = describeError(error);
        if (fault !== text)
          log.warn({ event: "alert_check_error", error: text }, "alerts are kept in memory until they can be saved");
        fault = text;
        remember(changes);
      }
    },
    async nextMessages() {
      listed = [...(await storedMessages()), ...messages].sort((one, other) => one.message.at - other.message.at);
      return listed.filter(({ notifier }, n) => listed.findIndex((other) => other.notifier === notifier) === n);
    },
    async removeMessage(id) {
      const message = listed.find((queued) => queued.id === id);
      if (message) sent.add(nameOf(message));
      messages = messages.filter((queued) => queued.id !== id);
      if (message && id > 0) await remove(message).catch(() => {});
    },
    async delayMessage(id, dueAt) {
      const delay = (queued: QueuedMessage) => ({ ...queued, dueAt, attempts: queued.attempts + 1 });
      messages = messages.map((queued) => (queued.id === id ? delay(queued) : queued));
      if (id < 0) return;
      const message = listed.find((queued) => queued.id === id);
      try {
        await ask(() => store.delayMessage(id, dueAt));
        delayed.delete(id);
      } catch {
        if (message) delayed.set(id, { dueAt, attempts: message.attempts + 1 });
      }
    },
  };
}

/** Names a message. A notifier gets at most one for each time. */
const nameOf = ({ notifier, message }: QueuedMessage) => JSON.stringify([notifier, message.at]);

function changed(alerts: readonly AlertRecord[], changes: AlertChanges): AlertRecord[] {
  const after = new Map(alerts.map((alert) => [alert.id, alert]));
  for (const id of changes.removed) after.delete(id);
  for (const alert of changes.changed) after.set(alert.id, alert);
  return [...after.values()];
}
