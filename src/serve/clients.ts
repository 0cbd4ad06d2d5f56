import type { BrowserParts } from "../auth/browser/visit.ts";
import type { Client } from "../auth/clients/client.ts";
import { createGrants, type Grants } from "../auth/clients/grants.ts";
import { createLogoutDelivery } from "../auth/clients/logout-delivery.ts";
import { endsOf } from "../auth/clients/preset.ts";
import { createSigningKeys, type SigningKeys } from "../auth/clients/signing-keys.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { type Repetition, repeat } from "../lib/repeat.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/** What logs apps in, and tells them the end of sessions. */
export interface Clients extends Part, Pick<BrowserParts, "appsIn"> {
  /** Those of the configuration file in use. */
  list(): readonly Client[];
  grants: Grants;
  keys: SigningKeys;
  issuer: string;
}

// A session may be ended by another server, or by a command.
const LOOK_EVERY_MS = 500;
const KEPT_MS = 30 * DAY_MS;

interface ClientNeeds {
  /** The public address, without a final `/`; null if browsers cannot log in. */
  publicUrl: string | null;
  /** Whether this server alone tells apps now. */
  isOnDuty: () => Promise<boolean>;
}

/** Creates what logs apps in. It does nothing while the configuration file has no clients. */
export function openClients(wiring: Wiring, { publicUrl, isOnDuty }: ClientNeeds): Clients {
  const { config, stores, people, log } = wiring;
  const { clients: store, sessions, factors, now } = stores;
  const issuer = publicUrl ?? "";
  const keys = createSigningKeys({ store, now });
  const delivery = createLogoutDelivery({ store, sessions, keys, issuer, log, now });
  const list = () => (publicUrl === null ? [] : (config.current?.clients ?? []));
  const loops: Repetition[] = [];

  async function look(): Promise<void> {
    if (list().length > 0) await delivery.run(list(), isOnDuty);
  }

  async function purge(): Promise<void> {
    while (await store.purge(now() - KEPT_MS));
  }

  return {
    list,
    grants: createGrants({ store, sessions, factors, keys, people, issuer, now }),
    keys,
    issuer,
    async appsIn(sid) {
      const clients = list();
      const open = clients.length === 0 ? [] : await store.participations();
      return clients
        .filter(({ name }) => open.some((one) => one.client === name && one.sid === sid))
        .map(({ name, logout: { backchannel } }) => ({ name, ends: endsOf(backchannel) }));
    },
    start() {
      const onError = (error: string) =>
        log.warn({ event: "logout_not_delivered", error }, "the ends of sessions could not be read; trying again");
      loops.push(repeat(look, { firstMs: 0, everyMs: LOOK_EVERY_MS, onError }));
      loops.push(repeat(purge, { everyMs: HOUR_MS, onError }));
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await delivery.stop();
    },
  };
}
