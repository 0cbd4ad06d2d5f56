import type { AlertRecord, Silence } from "../alerts/alert.ts";
import type { AlertStore, Message, QueuedMessage } from "../alerts/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

type MessageRow = Omit<QueuedMessage, "message"> & { message: string };

/** The synchronous form of the alert store in the SQLite file. */
export function sqliteAlerts(database: Database): SyncPort<AlertStore> {
  const alerts = database.prepare<[], string>("SELECT record FROM alerts ORDER BY id").pluck();
  const silences = database.prepare<[], string>("SELECT silence FROM alert_silences ORDER BY until, id").pluck();
  const put = database.prepare(
    "INSERT INTO alerts (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
  );
  const remove = database.prepare("DELETE FROM alerts WHERE id = ?");
  const addMessage = database.prepare(
    "INSERT INTO alert_messages (notifier, message, attempts, due_at) VALUES (?, ?, 0, ?)",
  );
  // The oldest message of each notifier.
  const nextMessages = database.prepare<[], MessageRow>(`
    SELECT id, notifier, message, attempts, due_at AS dueAt FROM alert_messages
    WHERE id IN (SELECT min(id) FROM alert_messages GROUP BY notifier) ORDER BY id`);
  const removeMessage = database.prepare("DELETE FROM alert_messages WHERE id = ?");
  const delayMessage = database.prepare("UPDATE alert_messages SET attempts = attempts + 1, due_at = ? WHERE id = ?");
  const addSilence = database.prepare("INSERT INTO alert_silences (id, name, until, silence) VALUES (?, ?, ?, ?)");
  const removeEnded = database.prepare("DELETE FROM alert_silences WHERE until <= ?");
  const removeSilences = database.prepare("DELETE FROM alert_silences WHERE @name IS NULL OR name = @name");

  return {
    read: database.transaction(() => ({
      alerts: alerts.all().map((record) => JSON.parse(record) as AlertRecord),
      silences: silences.all().map((silence) => JSON.parse(silence) as Silence),
    })),
    save: atomic(database, ({ changed, removed, message, notifiers }) => {
      for (const alert of changed) put.run(alert.id, JSON.stringify(alert));
      for (const id of removed) remove.run(id);
      if (message === null) return;
      for (const notifier of notifiers) addMessage.run(notifier, JSON.stringify(message), message.at);
    }),
    nextMessages: () => nextMessages.all().map((row) => ({ ...row, message: JSON.parse(row.message) as Message })),
    removeMessage: (id) => void removeMessage.run(id),
    delayMessage: (id, dueAt) => void delayMessage.run(dueAt, id),
    addSilence: atomic(database, (silence, now) => {
      removeEnded.run(now);
      addSilence.run(silence.id, silence.name, silence.until, JSON.stringify(silence));
    }),
    removeSilences: (name) => removeSilences.run({ name }).changes,
  };
}
