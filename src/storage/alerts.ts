import type { AlertRecord, Silence } from "../alerts/alert.ts";
import type { AlertStore, Message, QueuedMessage } from "../alerts/store.ts";
import { change, changed, type QueryPort, rows } from "./query.ts";

const PUT = `
INSERT INTO authserve.alerts (id, record) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET record = excluded.record`;

const ADD_MESSAGE = "INSERT INTO authserve.alert_messages (notifier, message, attempts, due_at) VALUES ($1, $2, 0, $3)";

/** The oldest message of each notifier. */
const NEXT_MESSAGES = `
SELECT id, notifier, message, attempts, due_at AS "dueAt" FROM authserve.alert_messages
WHERE id IN (SELECT min(id) FROM authserve.alert_messages GROUP BY notifier) ORDER BY id`;

const DELAY = "UPDATE authserve.alert_messages SET attempts = attempts + 1, due_at = $2 WHERE id = $1";
const ADD_SILENCE = "INSERT INTO authserve.alert_silences (id, name, until, silence) VALUES ($1, $2, $3, $4)";

/** Alerts by id, and then silences by their end. */
const READ = `
SELECT 0 AS until, id, record, NULL AS silence FROM authserve.alerts
UNION ALL SELECT until, id, NULL, silence FROM authserve.alert_silences ORDER BY until, id`;

/** Keeps alerts, their silences and messages. */
export const alertStore: QueryPort<AlertStore> = {
  // One statement, so that it needs no transaction: SQLite would lock what a read-only disk cannot.
  read: () =>
    rows<{ record: string | null; silence: string | null }>(READ).as((found) => ({
      alerts: found.flatMap(({ record }) => (record === null ? [] : [JSON.parse(record) as AlertRecord])),
      silences: found.flatMap(({ silence }) => (silence === null ? [] : [JSON.parse(silence) as Silence])),
    })),
  *save({ changed: alerts, removed, message, notifiers }) {
    for (const alert of alerts) yield* changed(PUT, alert.id, JSON.stringify(alert));
    for (const id of removed) yield* changed("DELETE FROM authserve.alerts WHERE id = $1", id);
    if (message === null) return;
    for (const notifier of notifiers)
      yield* changed(ADD_MESSAGE, notifier, JSON.stringify(message), Math.round(message.at));
  },
  nextMessages: () =>
    rows<Omit<QueuedMessage, "message"> & { message: string }>(NEXT_MESSAGES).as((found) =>
      found.map((row) => ({ ...row, message: JSON.parse(row.message) as Message })),
    ),
  removeMessage: (id) => changed("DELETE FROM authserve.alert_messages WHERE id = $1", id),
  delayMessage: (id, dueAt) => changed(DELAY, id, Math.round(dueAt)),
  *addSilence(silence, now) {
    yield* changed("DELETE FROM authserve.alert_silences WHERE until <= $1", Math.round(now));
    yield* changed(ADD_SILENCE, silence.id, silence.name, Math.round(silence.until), JSON.stringify(silence));
  },
  removeSilences: (name) => change("DELETE FROM authserve.alert_silences WHERE $1::text IS NULL OR name = $1", name),
};
