import { describeError } from "../../errors.ts";
import { renewGoogle } from "./google.ts";
import { renewGraph } from "./ms-graph.ts";
import { isRenewalDue, type Renewal } from "./renewal.ts";
import type { Subscription, SubscriptionStore } from "./store.ts";

/** Renews the subscription of a source if it is due. Returns the renewed one, or the same with why that failed. */
export async function renewIfDue(
  store: SubscriptionStore,
  source: string,
  renewal: Omit<Renewal, "current">,
): Promise<Subscription | null> {
  const current = await store.read(source);
  if (!isRenewalDue(current, renewal.now)) return null;
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
