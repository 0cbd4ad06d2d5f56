import { randomUUID } from "node:crypto";
import { stripe as catchUp } from "../catch-up/stripe.ts";
import { provider, says } from "../provider.ts";
import { base62, seconds } from "../samples/template.ts";
import { timestampedPairs } from "../signature/signing.ts";

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
    content: {
      json: ({ id, type, now }) => ({
        id,
        object: "event",
        api_version: "2026-10-28.endive",
        created: seconds(now),
        data: {
          object: {
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
          },
        },
        livemode: false,
        pending_webhooks: 1,
        request: { id: `req_${base62(14)}`, idempotency_key: randomUUID() },
        type,
      }),
    },
  },
});
