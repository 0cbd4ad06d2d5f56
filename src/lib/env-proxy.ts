import type { AgentOptions } from "node:http";

/**
 * Options for agents of Node, with which they go over the proxies in `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. Node's
 * own agents do so if `NODE_USE_ENV_PROXY` is set.
 */
export function envProxy(): Pick<AgentOptions, "proxyEnv"> {
  return process.env.NODE_USE_ENV_PROXY === "1" ? { proxyEnv: process.env } : {};
}
