import type { Subscription, SubscriptionStore } from "../webhook/subscriptions/store.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";

const SAVE = `
INSERT INTO subscriptions (source, record) VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET record = excluded.record`;

/** The synchronous form of the store of subscriptions in the SQLite file. */
export function sqliteSubscriptions(database: Database): SyncPort<SubscriptionStore> {
  const read = database.prepare<[string], string>("SELECT record FROM subscriptions WHERE source = ?").pluck();
  const save = database.prepare(SAVE);
  return {
    read(source) {
      const text = read.get(source);
      return text === undefined ? null : (JSON.parse(text) as Subscription);
    },
    save: (source, subscription) => void save.run(source, JSON.stringify(subscription)),
  };
}
