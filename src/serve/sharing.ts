import { hostname } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import { ALONE, createMembership, type Membership } from "../nodes/membership.ts";
import type { Wiring } from "./configuration.ts";

interface Sharing {
  /** Announces the server at its URL. Until then it has no share of rates. */
  join(url: string): Promise<void>;
  /** The part of each route's rate that this server has now. */
  share(): number;
  /** Whether this server alone removes old events now. */
  isPurging(): Promise<boolean>;
  /** Whether this server alone checks and sends alerts now. */
  isAlerting(): Promise<boolean>;
  leave(): Promise<void>;
}

// A purge asks for each page, and a page takes less than a second.
const PURGE_LEASE_MS = 10_000;
// Alerts are checked every 5 seconds.
const ALERT_LEASE_MS = 15_000;

/** Creates the sharing of a server. With SQLite it is alone. */
export function openSharing({ stores: { shared, now }, instance: { id }, log }: Wiring): Sharing {
  if (shared === null) return { ...ALONE, isPurging: async () => true, isAlerting: async () => true };
  let membership: Membership | undefined;
  return {
    async join(url) {
      const node = { id, host: hostname(), url, version: packageJson.version };
      membership = createMembership({ store: shared.nodes, node, log, now });
      await membership.join();
    },
    share: () => membership?.share() ?? 0,
    isPurging: () => shared.leases.acquire("purge", id, PURGE_LEASE_MS),
    isAlerting: () => shared.leases.acquire("alerts", id, ALERT_LEASE_MS),
    leave: async () => membership?.leave(),
  };
}
