import { randomUUID } from "node:crypto";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN, timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "RevenueCat",
  docs: "https://www.revenuecat.com/docs/integrations/webhooks",
  schemes: [timestampedPairs("x-revenuecat-webhook-signature"), BEARER_TOKEN],
  covers: "part",
  id: ["body:event.id"],
  type: ["body:event.type"],
  facts: says("https://www.revenuecat.com/docs/webhooks/", {
    answer: "200",
    repeats: "automatic",
    schedule: "after 5, 10, 20, 40 and 80 minutes",
    repeatsForSeconds: 9300,
  }),
  sample: {
    type: "INITIAL_PURCHASE",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => ({
        api_version: "1.0",
        event: {
          id,
          type,
          app_id: "1234567890",
          app_user_id: "user-1042",
          original_app_user_id: "user-1042",
          aliases: ["user-1042"],
          country_code: "DE",
          currency: "EUR",
          entitlement_ids: ["pro"],
          environment: "PRODUCTION",
          event_timestamp_ms: now,
          expiration_at_ms: now + 30 * 86_400_000,
          is_family_share: false,
          offer_code: null,
          original_transaction_id: "530000900000000",
          period_type: "NORMAL",
          presented_offering_id: null,
          price: 4.99,
          price_in_purchased_currency: 4.99,
          product_id: "com.example.pro.monthly",
          purchased_at_ms: now - 1000,
          store: "APP_STORE",
          subscriber_attributes: {},
          takehome_percentage: 0.7,
          transaction_id: "530000900000000",
        },
      }),
    },
  },
});
