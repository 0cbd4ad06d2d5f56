import { alertStore } from "./alerts.ts";
import { auditStore } from "./audit.ts";
import { catchUpStore } from "./catch-ups.ts";
import { clientStore } from "./clients.ts";
import { factorStore } from "./factors.ts";
import { heldStore } from "./held.ts";
import { tokenStore } from "./machine-tokens.ts";
import { outageStore } from "./outages.ts";
import type { PayloadCodec } from "./payload-codec.ts";
import { personStore } from "./people.ts";
import type { QueryPort } from "./query.ts";
import { refusalStore } from "./refusals.ts";
import { type AddStats, sourceStore } from "./source-counts.ts";
import { subscriptionStore } from "./subscriptions.ts";

/** What a driver gives to these stores. */
interface DriverParts {
  codec: PayloadCodec;
  addStats: AddStats;
}

/** The stores that are written once for both databases. A new one is a file, and a line here. */
const smallStores = ({ codec, addStats }: DriverParts) => ({
  alerts: alertStore,
  audit: auditStore,
  catchUps: catchUpStore,
  clients: clientStore(codec),
  factors: factorStore,
  held: heldStore(codec),
  outages: outageStore,
  people: personStore,
  refusals: refusalStore,
  sources: sourceStore(addStats),
  subscriptions: subscriptionStore,
  tokens: tokenStore,
});

type PortOf<Store> = Store extends QueryPort<infer Port> ? Port : never;

type All = ReturnType<typeof smallStores>;

/** These stores by name. */
export type SmallStores = { [Name in keyof All]: PortOf<All[Name]> };

/** What a request reads at once, on the connection of the server's own thread. */
export const READ_AT_ONCE: { readonly [Name in keyof SmallStores]?: readonly (keyof SmallStores[Name])[] } = {
  alerts: ["read", "nextMessages"],
  clients: ["findToken", "consent", "participations", "signingKeys"],
  tokens: ["list", "find"],
  factors: ["list", "listAll", "recoveryCodesLeft", "logins", "loginsFromNewNetworks"],
};

/** Makes something of each of these stores, as a driver does. */
export const ofSmallStores = <Made>(
  parts: DriverParts,
  make: (store: QueryPort<Record<string, never>>, name: keyof SmallStores) => object,
) =>
  Object.fromEntries(
    Object.entries(smallStores(parts)).map(([name, store]) => [name, make(store as never, name as keyof SmallStores)]),
  ) as Made;
