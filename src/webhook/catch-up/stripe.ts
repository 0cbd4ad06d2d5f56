import { DAY_MS } from "../../lib/durations.ts";
import type { CatchUpAdapter } from "./adapter.ts";
import { listOf, memberOf, textAt } from "./adapter.ts";

/**
 * Stripe's API lists the events of the last 30 days, and cannot deliver one again. `delivery_success=false` is those
 * that have not arrived at some endpoint of the account. With `hook`, those types are left out that the endpoint does
 * not get.
 */
export const stripe: CatchUpAdapter = {
  hosts: ["api.stripe.com"],
  hook: {
    pattern: /^\/v1\/webhook_endpoints\/we_\w+$/,
    example: "https://api.stripe.com/v1/webhook_endpoints/we_1",
    isOptional: true,
  },
  token: "a restricted key that may read events, and with hook also webhook endpoints",
  keepsMs: 30 * DAY_MS,
  onlyLists: true,
  docs: "https://docs.stripe.com/api/events/list",
  async open({ origin, hook, token }, send) {
    const headers = { authorization: `Bearer ${token}` };
    const enabled =
      hook === null ? null : listOf(memberOf((await send({ url: hook, headers })).json, "enabled_events"));
    const isWanted = (type: string | null) => enabled === null || enabled.includes("*") || enabled.includes(type);
    let listUrl = "";
    return {
      firstPage(from, _to, all) {
        const undelivered = all ? "" : "&delivery_success=false";
        listUrl = `${origin}/v1/events?limit=100${undelivered}&created%5Bgte%5D=${Math.floor(from / 1000)}`;
        return { url: listUrl, headers };
      },
      readPage({ json }) {
        const events = listOf(memberOf(json, "data"));
        const last = textAt(events.at(-1), "id");
        const hasMore = memberOf(json, "has_more") === true && last !== null;
        return {
          listed: events
            .filter((event) => isWanted(textAt(event, "type")))
            .map((event) => {
              const id = textAt(event, "id") ?? "";
              const at = Number(textAt(event, "created")) * 1000;
              return { item: id, id, at, outcome: "unknown" as const, eventId: id };
            }),
          next: hasMore ? { url: `${listUrl}&starting_after=${encodeURIComponent(last)}`, headers } : null,
        };
      },
      capture: {
        request: ({ id }) => ({ url: `${origin}/v1/events/${encodeURIComponent(id)}`, headers }),
        read: ({ json, text }) => ({
          eventId: textAt(json, "id") ?? "",
          type: textAt(json, "type") ?? "unknown",
          contentType: "application/json",
          payload: Buffer.from(text),
        }),
      },
    };
  },
};
