import type { Subscription, SubscriptionStore } from "../webhook/subscriptions/store.ts";
import { changed, type QueryPort, row } from "./query.ts";

const SAVE = `
INSERT INTO authserve.subscriptions (source, record) VALUES ($1, $2)
ON CONFLICT (source) DO UPDATE SET record = excluded.record`;

/** Keeps subscriptions at providers. */
export const subscriptionStore: QueryPort<SubscriptionStore> = {
  read: (source) =>
    row<{ record: string }>("SELECT record FROM authserve.subscriptions WHERE source = $1", source).as((found) =>
      found === undefined ? null : (JSON.parse(found.record) as Subscription),
    ),
  save: (source, subscription) => changed(SAVE, source, JSON.stringify(subscription)),
};
