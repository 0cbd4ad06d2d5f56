import type { HeldParts } from "../admin/held.ts";
import type { ConfigFile } from "../config/file/config-file.ts";
import type { WatchedConfigFile } from "../config/file/reload.ts";
import type { Environment, Settings } from "../config/settings.ts";
import type { InstanceFile } from "../http/instance.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { ServerStores } from "../stores.ts";
import type { DeliveryParts } from "../webhook/endpoints.ts";
import type { RawRequest } from "../webhook/held/raw-request.ts";
import type { Source } from "../webhook/source.ts";
import type { Route } from "../worker/route.ts";

/** What a server is started with. `readFile` reads the configuration file; null if there is none. */
export interface Configuration {
  settings: Settings;
  environment: Environment;
  file: string;
  readFile(): ConfigFile | null;
  /** Whether SIGHUP calls `reload`. At a terminal it stops the server. */
  reloadsAtHangup: boolean;
  /** Tells which checks of the server a captured request passes. */
  explainDelivery(source: Source, raw: RawRequest, options: ExplainOptions): Promise<Explanation>;
}

type Explanation = Awaited<ReturnType<HeldParts["held"]["explain"]>>;

/** How a captured request came. */
export interface Arrival {
  /** Unix milliseconds. */
  now: number;
  /** The sender's address, if it is known otherwise than by the request. */
  address: string | undefined;
  /** The address that the sender used, if it is known otherwise than by the request. */
  sentTo: { origin: string; target: string } | undefined;
}

interface ExplainOptions extends Arrival, Pick<DeliveryParts, "addressLists" | "acceptsSecret" | "trustedProxies"> {
  routes: readonly Route[];
  /** Whether the server itself speaks HTTPS. */
  isEncrypted: boolean;
}

/** What the parts are connected with. */
export interface Wiring extends Pick<Configuration, "settings" | "environment" | "file" | "explainDelivery"> {
  config: WatchedConfigFile;
  stores: ServerStores;
  log: Log;
  metrics: Metrics;
  instance: InstanceFile;
}
