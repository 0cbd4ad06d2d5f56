import type { BlockList } from "node:net";
import { AppError } from "../errors.ts";
import type { Exposition } from "../metrics.ts";
import { isIn } from "./client-address.ts";
import type { Handler } from "./exchange.ts";

export interface MetricsAccess {
  allowedAddresses: BlockList;
  /** Whether some proxies are believed. When none is, a forwarded request may be anybody's. */
  knowsProxies: boolean;
}

/** Shows the metrics to the addresses that may see them; to any other there is nothing at this path. */
export function metricsRoute(render: () => Promise<Exposition>, access: MetricsAccess): Handler {
  return async ({ request, address }) => {
    const isForwarded = request.headers["x-forwarded-for"] !== undefined;
    if (!isIn(access.allowedAddresses, address) || (isForwarded && !access.knowsProxies))
      throw new AppError("not_found");
    const { text, contentType } = await render();
    return { status: 200, body: text, headers: { "Content-Type": contentType } };
  };
}
