import type { Subscription, SubscriptionStore } from "../webhook/subscriptions/store.ts";
import type { Postgres } from "./connection.ts";

const READ = "SELECT record FROM authserve.subscriptions WHERE source = $1";
const SAVE = `
INSERT INTO authserve.subscriptions (source, record) VALUES ($1, $2)
ON CONFLICT (source) DO UPDATE SET record = excluded.record`;

/** Keeps subscriptions in PostgreSQL. */
export function createPostgresSubscriptionStore(postgres: Postgres): SubscriptionStore {
  return {
    async read(source) {
      const [row] = await postgres.rows<{ record: string }>(READ, [source]);
      return row === undefined ? null : (JSON.parse(row.record) as Subscription);
    },
    save: async (source, subscription) => void (await postgres.run(SAVE, [source, JSON.stringify(subscription)])),
  };
}
