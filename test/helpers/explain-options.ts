import type { ExplainOptions } from "../../src/serve/explain/delivery.ts";
import { routeIn } from "./config-file.ts";

/** A request that came directly, from an unknown address, to a server with one route. */
export const EXPLAIN_OPTIONS: ExplainOptions = {
  now: 0,
  trustedProxies: undefined,
  isEncrypted: false,
  address: undefined,
  sentTo: undefined,
  addressLists: { find: () => "not listed" },
  acceptsSecret: async () => true,
  routes: [routeIn("{ name: audit, log: {} }")],
};
