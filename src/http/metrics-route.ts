import type { BlockList } from "node:net";
import { AppError } from "../errors.ts";
import type { Exposition } from "../metrics.ts";
import { isIn } from "./client-address.ts";
import type { Handler } from "./exchange.ts";

/** Shows the metrics to the addresses that may see them; to any other there is nothing at this path. */
export function metricsRoute(render: () => Promise<Exposition>, allowedAddresses: BlockList): Handler {
  return async ({ address }) => {
    if (!isIn(allowedAddresses, address)) throw new AppError("not_found");
    const { text, contentType } = await render();
    return { status: 200, body: text, headers: { "Content-Type": contentType } };
  };
}
