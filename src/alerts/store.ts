import type { AlertRecord, Silence } from "./alert.ts";

/** Alerts that have changed, for notifiers. They are sent together. Times are Unix milliseconds. */
export interface Message {
  alerts: AlertRecord[];
  at: number;
}

/** A message that waits to be sent. */
export interface QueuedMessage {
  id: number;
  notifier: string;
  message: Message;
  /** Tries that have failed. */
  attempts: number;
  dueAt: number;
}

/** What has become of alerts. The messages are sent to each of these notifiers. */
export interface AlertChanges {
  changed: readonly AlertRecord[];
  /** Ids of alerts to forget. */
  removed: readonly string[];
  message: Message | null;
  notifiers: readonly string[];
}

/** Keeps alerts, silences and messages over a restart. Each method is one transaction. */
export interface AlertStore {
  read(): Promise<{ alerts: AlertRecord[]; silences: Silence[] }>;
  save(changes: AlertChanges): Promise<void>;
  /** The oldest message of each notifier: those after it wait, so that an alert never resolves before it fires. */
  nextMessages(): Promise<QueuedMessage[]>;
  removeMessage(id: number): Promise<void>;
  /** Lets a message wait after a failed try. */
  delayMessage(id: number, dueAt: number): Promise<void>;
  /** Adds a silence, and forgets those that have ended. */
  addSilence(silence: Silence, now: number): Promise<void>;
  /** Returns the number of silences that were removed: those with this name, or all. */
  removeSilences(name: string | null): Promise<number>;
}
