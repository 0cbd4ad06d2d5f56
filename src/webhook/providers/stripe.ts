import { randomUUID } from "node:crypto";
import { DAY_MS } from "../../lib/durations.ts";
import { type CatchUpAdapter, listOf, memberOf, textAt } from "../provider/catch-up.ts";
import { base62, type SampleEvent, seconds } from "../provider/sample.ts";
import { stripeSamples } from "../provider/stripe-objects.ts";
import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

/**
 * Stripe's API lists the events of the last 30 days, and cannot deliver one again. `delivery_success=false` is those
 * that have not arrived at some endpoint of the account. With `hook`, those types are left out that the endpoint does
 * not get.
 */
const catchUp: CatchUpAdapter = {
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

export default provider({
  title: "Stripe",
  docs: "https://docs.stripe.com/webhooks/signature",
  schemes: timestampedPairs("stripe-signature"),
  id: ["body:id"],
  type: ["body:type"],
  isEnvelope: true,
  catchUp,
  facts: {
    ...says("https://docs.stripe.com/webhooks", {
      sameBytes: false,
      repeatChanges: ["time"],
      rotation: "one v1 for each secret, for up to 24 hours",
      answer: "any 2xx",
      repeats: "automatic",
      schedule: "with an exponential backoff; three times over a few hours in a sandbox",
      repeatsForSeconds: 3 * 86_400,
      keepsDays: 30,
    }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/stripe/stripe-dotnet/blob/d33036292e0fba185de235ce26836eebba9f91fd/src/StripeTests/Services/Events/EventUtilityTest.cs",
  },
  sample: {
    type: "payment_intent.succeeded",
    newId: () => `evt_3${base62(23)}`,
    headers: () => ({ "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)" }),
    content: { json: (event) => eventWith(paymentIntent(event.now), event) },
    others: stripeSamples(eventWith),
  },
});

function eventWith(object: object, { id, type, now }: SampleEvent): object {
  return {
    id,
    object: "event",
    api_version: "2026-10-28.endive",
    created: seconds(now),
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: `req_${base62(14)}`, idempotency_key: randomUUID() },
    type,
  };
}

const paymentIntent = (now: number): object => ({
  id: `pi_3${base62(23)}`,
  object: "payment_intent",
  amount: 1900,
  amount_capturable: 0,
  amount_received: 1900,
  automatic_payment_methods: { allow_redirects: "always", enabled: true },
  capture_method: "automatic_async",
  confirmation_method: "automatic",
  created: seconds(now - 3000),
  currency: "eur",
  customer: `cus_${base62(14)}`,
  description: "Order 1042",
  latest_charge: `ch_3${base62(23)}`,
  livemode: false,
  metadata: { order_id: "1042" },
  payment_method: `pm_1${base62(23)}`,
  payment_method_types: ["card"],
  receipt_email: "customer@example.com",
  status: "succeeded",
});
