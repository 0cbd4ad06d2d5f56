import type { BlockList } from "node:net";
import { AppError } from "../errors.ts";
import type { Exposition } from "../metrics.ts";
import { isForwardedByStranger, isIn } from "./client-address.ts";
import type { Handler } from "./exchange.ts";

export interface MetricsAccess {
  allowedAddresses: BlockList;
  /** What another proxy passes on may be anybody's. */
  trustedProxies: BlockList | undefined;
}

/** Shows the metrics to the addresses that may see them; to any other there is nothing at this path. */
export function metricsRoute(render: () => Promise<Exposition>, access: MetricsAccess): Handler {
  return async ({ request, address }) => {
    if (!isIn(access.allowedAddresses, address) || isForwardedByStranger(request, access.trustedProxies))
      throw new AppError("not_found");
    const { text, contentType } = await render();
    return { status: 200, body: text, headers: { "Content-Type": contentType } };
  };
}
