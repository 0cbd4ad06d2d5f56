import type { AlertStore } from "../alerts/store.ts";
import type { AuditStore } from "../audit/store.ts";
import type { FactorStore } from "../auth/factors/store.ts";
import type { TokenStore } from "../auth/machine-tokens/store.ts";
import type { CatchUpStore } from "../webhook/catch-up/store.ts";
import type { OutageStore } from "../webhook/outages/store.ts";
import type { SubscriptionStore } from "../webhook/subscriptions/store.ts";
import { alertStore } from "./alerts.ts";
import { auditStore } from "./audit.ts";
import { catchUpStore } from "./catch-ups.ts";
import { factorStore } from "./factors.ts";
import { tokenStore } from "./machine-tokens.ts";
import { outageStore } from "./outages.ts";
import type { QueryPort } from "./query.ts";
import { subscriptionStore } from "./subscriptions.ts";

/** The stores that are written once for both databases. */
export interface SmallStores {
  alerts: AlertStore;
  tokens: TokenStore;
  audit: AuditStore;
  outages: OutageStore;
  catchUps: CatchUpStore;
  subscriptions: SubscriptionStore;
  factors: FactorStore;
}

/** Their methods. */
const SMALL_STORES: { [Name in keyof SmallStores]: QueryPort<SmallStores[Name]> } = {
  alerts: alertStore,
  tokens: tokenStore,
  audit: auditStore,
  outages: outageStore,
  catchUps: catchUpStore,
  subscriptions: subscriptionStore,
  factors: factorStore,
};

/** What a request reads at once, on the connection of the server's own thread. */
export const READ_AT_ONCE: { readonly [Name in keyof SmallStores]?: readonly (keyof SmallStores[Name])[] } = {
  alerts: ["read", "nextMessages"],
  tokens: ["list", "find"],
  factors: ["list", "recoveryCodesLeft", "logins", "loginsFromNewNetworks"],
};

/** Makes something of each of these stores, as a driver does. */
export const ofSmallStores = (make: (store: QueryPort<object>, name: keyof SmallStores) => object) =>
  Object.fromEntries(
    Object.entries(SMALL_STORES).map(([name, store]) => [
      name,
      make(store as QueryPort<object>, name as keyof SmallStores),
    ]),
  );
