import type { AgentOptions } from "node:http";

/**
 * How long an address of a name may take to be connected before the next one is tried. Node waits for 250 ms, which is
 * too short over long or slow ways: https://github.com/nodejs/node/issues/54359.
 */
export const ADDRESS_TIMEOUT_MS = 2500;

/**
 * Options for agents of Node that send requests to others. They go over the proxies in `HTTP_PROXY`, `HTTPS_PROXY` and
 * `NO_PROXY` if `NODE_USE_ENV_PROXY` is set, as Node's own agents do.
 */
export function outgoing(): Pick<AgentOptions, "proxyEnv" | "autoSelectFamilyAttemptTimeout"> {
  const proxies = process.env.NODE_USE_ENV_PROXY === "1" ? { proxyEnv: process.env } : {};
  return { autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS, ...proxies };
}
