import type { AlertRecord, Telling } from "./alert.ts";
import type { Message } from "./store.ts";

/** What has come of a try to send a message. */
export interface SendOutcome extends Pick<Telling, "notifier" | "state" | "at" | "error"> {
  message: Message;
}

const newsOf = ({ resolvedAt }: AlertRecord): Telling["of"] => (resolvedAt === null ? "firing" : "resolved");

/** An alert of which a message is queued for these notifiers. */
export function withQueued(alert: AlertRecord, notifiers: readonly string[], now: number): AlertRecord {
  const of = newsOf(alert);
  const queued = notifiers.map((notifier): Telling => ({ notifier, of, state: "queued", at: now, error: null }));
  return {
    ...alert,
    isAnnounced: true,
    told: [...(alert.told ?? []).filter((telling) => telling.of !== of), ...queued],
  };
}

/** An alert with the outcomes of the messages that were about it. The same object if none was. */
export function withOutcomes(alert: AlertRecord, outcomes: readonly SendOutcome[]): AlertRecord {
  let { told } = alert;
  for (const { message, ...outcome } of outcomes) {
    // Another `since` is that of an earlier time, which is over.
    const about = message.alerts.find(({ id, since }) => id === alert.id && since === alert.since);
    if (about === undefined) continue;
    const telling: Telling = { ...outcome, of: newsOf(about) };
    const isOther = ({ notifier, of }: Telling) => notifier !== telling.notifier || of !== telling.of;
    told = [...(told ?? []).filter(isOther), telling];
  }
  return told === alert.told ? alert : { ...alert, ...(told && { told }) };
}

/** Whether an alert was announced while there was no notifier. */
export const reachedNobody = ({ isAnnounced, told }: AlertRecord) => isAnnounced && told?.length === 0;
