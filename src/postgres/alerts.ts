import type { AlertRecord, Silence } from "../alerts/alert.ts";
import type { AlertStore, Message, QueuedMessage } from "../alerts/store.ts";
import type { Postgres } from "./connection.ts";
import { texts } from "./values.ts";

type MessageRow = Omit<QueuedMessage, "message"> & { message: string };

const ALERTS = "SELECT record FROM authserve.alerts ORDER BY id";
const SILENCES = "SELECT silence FROM authserve.alert_silences ORDER BY until, id";

/** Adds or replaces alerts: ids, records. */
const PUT = `
INSERT INTO authserve.alerts (id, record) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (id) DO UPDATE SET record = excluded.record`;

const REMOVE = "DELETE FROM authserve.alerts WHERE id = ANY($1::text[])";

const ADD_MESSAGES = `
INSERT INTO authserve.alert_messages (notifier, message, attempts, due_at) SELECT notifier, $2, 0, $3
FROM unnest($1::text[]) AS named (notifier)`;

/** The oldest message of each notifier. */
const NEXT_MESSAGES = `
SELECT id, notifier, message, attempts, due_at AS "dueAt" FROM authserve.alert_messages
WHERE id IN (SELECT min(id) FROM authserve.alert_messages GROUP BY notifier) ORDER BY id`;

const REMOVE_MESSAGE = "DELETE FROM authserve.alert_messages WHERE id = $1";
const DELAY_MESSAGE = "UPDATE authserve.alert_messages SET attempts = attempts + 1, due_at = $2 WHERE id = $1";

const ADD_SILENCE = "INSERT INTO authserve.alert_silences (id, name, until, silence) VALUES ($1, $2, $3, $4)";
const REMOVE_ENDED = "DELETE FROM authserve.alert_silences WHERE until <= $1";
const REMOVE_SILENCES = "DELETE FROM authserve.alert_silences WHERE $1::text IS NULL OR name = $1";

/** Keeps alerts in PostgreSQL. */
export function createPostgresAlertStore(postgres: Postgres): AlertStore {
  return {
    read: () =>
      postgres.transaction(async (queries) => {
        const [alerts, silences] = await Promise.all([
          queries.rows<{ record: string }>(ALERTS),
          queries.rows<{ silence: string }>(SILENCES),
        ]);
        return {
          alerts: alerts.map(({ record }) => JSON.parse(record) as AlertRecord),
          silences: silences.map(({ silence }) => JSON.parse(silence) as Silence),
        };
      }),
    save: ({ changed, removed, message, notifiers }) =>
      postgres.transaction(async (queries) => {
        const ids = texts(changed.map(({ id }) => id));
        const records = texts(changed.map((alert) => JSON.stringify(alert)));
        await Promise.all([
          queries.run(PUT, [ids, records]),
          queries.run(REMOVE, [texts(removed)]),
          message && queries.run(ADD_MESSAGES, [texts(notifiers), JSON.stringify(message), message.at]),
        ]);
      }),
    async nextMessages() {
      const rows = await postgres.rows<MessageRow>(NEXT_MESSAGES);
      return rows.map((row) => ({ ...row, message: JSON.parse(row.message) as Message }));
    },
    removeMessage: async (id) => void (await postgres.run(REMOVE_MESSAGE, [id])),
    delayMessage: async (id, dueAt) => void (await postgres.run(DELAY_MESSAGE, [id, Math.round(dueAt)])),
    addSilence: (silence, now) =>
      postgres.transaction(async (queries) => {
        const { id, name, until } = silence;
        await queries.run(REMOVE_ENDED, [Math.round(now)]);
        await queries.run(ADD_SILENCE, [id, name, Math.round(until), JSON.stringify(silence)]);
      }),
    removeSilences: (name) => postgres.run(REMOVE_SILENCES, [name]),
  };
}
