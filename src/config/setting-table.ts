import type { Group } from "./setting.ts";
import { BROWSERS, LOGIN } from "./setting-groups/login.ts";
import { NETWORK } from "./setting-groups/network.ts";
import { OPERATION } from "./setting-groups/operation.ts";
import { PROCESSING } from "./setting-groups/processing.ts";
import { DATABASE, REDIS } from "./setting-groups/stores.ts";
import { WEBHOOKS } from "./setting-groups/webhooks.ts";

/** Every setting. */
export const SETTINGS = {
  ...LOGIN,
  ...BROWSERS,
  ...DATABASE,
  ...REDIS,
  ...NETWORK,
  ...WEBHOOKS,
  ...PROCESSING,
  ...OPERATION,
};

/** The settings by topic, in the order of the reference. */
export const SETTING_GROUPS: Record<string, Group> = {
  "Login and tokens": LOGIN,
  Browsers: BROWSERS,
  PostgreSQL: DATABASE,
  Redis: REDIS,
  Network: NETWORK,
  Webhooks: WEBHOOKS,
  Processing: PROCESSING,
  Operation: OPERATION,
};
