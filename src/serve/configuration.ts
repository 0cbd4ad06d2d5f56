import type { ChangingPeople } from "../auth/people/people.ts";
import type { ConfigFile } from "../config/file/config-file.ts";
import type { WatchedConfigFile } from "../config/file/reload.ts";
import type { Environment, Settings } from "../config/settings.ts";
import type { InstanceFile } from "../http/instance.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { ServerStores } from "../stores.ts";

/** What a server is started with. `readFile` reads the configuration file; null if there is none. */
export interface Configuration {
  settings: Settings;
  environment: Environment;
  file: string;
  readFile(): ConfigFile | null;
  /** Whether SIGHUP calls `reload`. At a terminal it stops the server. */
  reloadsAtHangup: boolean;
}

/** What the parts are connected with. */
export interface Wiring extends Pick<Configuration, "settings" | "environment" | "file"> {
  config: WatchedConfigFile;
  stores: ServerStores;
  /** Who can log in now. */
  people: ChangingPeople;
  log: Log;
  metrics: Metrics;
  instance: InstanceFile;
}
