import { describeError } from "../errors.ts";
import type { AlertRecord } from "./alert.ts";
import type { createNotify, Notifier } from "./notifiers.ts";

/** Whether a notifier took a test message. */
export interface NotifierTest extends Pick<Notifier, "name" | "kind"> {
  sent: boolean;
  /** Why it did not. */
  error: string | null;
}

/** Sends a test message to each notifier. `now` is in Unix milliseconds. */
export function testNotifiers(
  notify: ReturnType<typeof createNotify>,
  notifiers: readonly Notifier[],
  now: number,
): Promise<NotifierTest[]> {
  const alert: AlertRecord = {
    id: "0000000000000000",
    name: "AuthserveDeadLetters",
    labels: { test: "true" },
    summary: "this is a test of the notifiers, nothing is wrong",
    remedy: "nothing to do",
    since: now,
    firedAt: now,
    resolvedAt: null,
    isAnnounced: true,
  };
  return Promise.all(
    notifiers.map(async (notifier) => {
      const { name, kind } = notifier;
      try {
        await notify(notifier, { alerts: [alert], at: now }, new AbortController().signal);
        return { name, kind, sent: true, error: null };
      } catch (error) {
        return { name, kind, sent: false, error: describeError(error) };
      }
    }),
  );
}
