import { hostname } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import { ALONE, createMembership, type Membership } from "../nodes/membership.ts";
import type { Wiring } from "./configuration.ts";

interface Sharing {
  /** Announces the server at its URL. Until then it has no share of rates. */
  join(url: string): Promise<void>;
  /** The part of each route's rate that this server has now. */
  share(): number;
  /** Whether this server alone does a task now. */
  isOnDuty(task: keyof typeof LEASE_MS): Promise<boolean>;
  leave(): Promise<void>;
}

const LEASE_MS = {
  // A purge asks for each page, and a page takes less than a second.
  purge: 10_000,
  // Alerts are checked every 5 seconds.
  alerts: 15_000,
  // Apps are told of ends of sessions every half second, each within ten seconds.
  logouts: 15_000,
  // A catch-up renews it at each request, and waits at most two minutes between them.
  asking: 180_000,
};

/** Creates the sharing of a server. With SQLite it is alone. */
export function openSharing({ stores: { shared, now }, instance: { id }, log }: Wiring): Sharing {
  if (shared === null) return { ...ALONE, isOnDuty: async () => true };
  let membership: Membership | undefined;
  return {
    async join(url) {
      const node = { id, host: hostname(), url, version: packageJson.version };
      membership = createMembership({ store: shared.nodes, node, log, now });
      await membership.join();
    },
    share: () => membership?.share() ?? 0,
    isOnDuty: (task) => shared.leases.acquire(task, id, LEASE_MS[task]),
    leave: async () => membership?.leave(),
  };
}
