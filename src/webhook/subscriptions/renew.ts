import { describeError } from "../../errors.ts";
import type { EventStore } from "../../events/store.ts";
import { renewGoogle } from "./google.ts";
import { GRAPH_CALLS, renewGraph } from "./ms-graph.ts";
import { isRenewalDue, type Renewal } from "./renewal.ts";
import type { Subscription, SubscriptionStore } from "./store.ts";

interface RenewalStores {
  subscriptions: SubscriptionStore;
  events: Pick<EventStore, "list">;
}

/**
 * Renews the subscription of a source if it is due, or if its provider has asked for it since the last try. Returns the
 * renewed one, or the same with why that failed; null if nothing was done.
 */
export async function renewIfDue(
  { subscriptions: store, events }: RenewalStores,
  source: string,
  renewal: Omit<Renewal, "current">,
): Promise<Subscription | null> {
  const { settings } = renewal;
  const current = await store.read(source);
  const isCalled = async () => {
    if (settings.kind !== "ms_graph" || !settings.lifecycle || current === null) return false;
    const since = current.triedAt + 1;
    const heard = await Promise.all(GRAPH_CALLS.map((type) => events.list({ source, type, since, limit: 1 })));
    return heard.some(({ items }) => items.length > 0);
  };
  if (!isRenewalDue(current, renewal.now) && !(await isCalled())) return null;
  const next = await renewed({ ...renewal, current });
  await store.save(source, next);
  return next;
}

async function renewed(renewal: Renewal): Promise<Subscription> {
  const { settings, current, notificationUrl, now } = renewal;
  try {
    if (!URL.canParse(notificationUrl)) throw new Error("the provider needs an address: set PUBLIC_URL");
    return await (settings.kind === "ms_graph" ? renewGraph : renewGoogle)(renewal);
  } catch (error) {
    const none = { id: null, resource: null, startedAt: now, expiresAt: now };
    return { ...none, ...current, triedAt: now, error: describeError(error) };
  }
}
