import packageJson from "../../package.json" with { type: "json" };
import type { AdminParts } from "../admin/routes.ts";
import { listAlerts } from "../alerts/list.ts";
import type { ConfigFile } from "../config/file/config-file.ts";
import { routesOf } from "../config/routes.ts";
import type { Settings } from "../config/settings.ts";
import { sourcesOf } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { ServerStores } from "../stores.ts";
import { overviewOf } from "../webhook/source-overview.ts";
import { overviewOfRoutes } from "../worker/route-overview.ts";

/** What the API reads of other parts. */
interface AdminSources extends Pick<AdminParts, "authenticate"> {
  settings: Settings;
  stores: ServerStores;
  /** The configuration file in use. */
  file: () => ConfigFile | null;
  /** Why deliveries are refused now; null if they are taken. */
  paused: () => string | null;
  isAvailable: (route: string) => boolean;
}

/** The parts of the API of the page; null if `ADMIN` is off. */
export function openAdmin({ settings, stores, authenticate, file, ...state }: AdminSources): AdminParts | null {
  if (settings.ADMIN === "off") return null;
  const { ADMIN_ALLOWED_ADDRESSES: allowedAddresses, TRUSTED_PROXIES: trustedProxies } = settings;
  const { events, sources, now } = stores;
  const startedAt = isoTime(now());

  async function readRoutes() {
    return overviewOfRoutes(routesOf(settings, file()), await events.routes()).map(
      ({ name, configured, queued, processed, failed, discarded, pausedAt }) => ({
        name,
        configured: configured !== null,
        queued,
        processed,
        failed,
        discarded,
        pausedAt: isoTime(pausedAt),
        available: state.isAvailable(name),
      }),
    );
  }

  return {
    authenticate,
    events,
    async readStatus() {
      const { oldestQueuedAt, ...backlog } = await events.backlog();
      return {
        version: packageJson.version,
        startedAt,
        store: settings.DATABASE_URL === undefined ? "sqlite" : "postgres",
        paused: state.paused(),
        events: { ...backlog, oldestQueuedAt: isoTime(oldestQueuedAt) },
        routes: await readRoutes(),
      };
    },
    async readSources() {
      const overview = overviewOf(sourcesOf(settings, file()), await sources.list());
      return overview.map((source) => ({ ...source, lastReceivedAt: isoTime(source.lastReceivedAt) }));
    },
    readAlerts: async () => listAlerts(await stores.alerts.read(), now()),
    access: allowedAddresses === undefined ? null : { allowedAddresses, trustedProxies },
    now,
  };
}
