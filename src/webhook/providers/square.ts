import { randomUUID } from "node:crypto";
import { base62, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Square",
  docs: "https://developer.squareup.com/docs/webhooks/step3validate",
  schemes: base64OfBody("x-square-hmacsha256-signature", { signed: "{url}{body}" }),
  id: ["body:event_id"],
  type: ["body:type"],
  facts: {
    ...says("https://developer.squareup.com/docs/webhooks/overview", {
      sameBytes: false,
      answer: "any 2xx",
      answerSeconds: 10,
      repeats: "automatic",
      schedule: "after 1, 2, 4, 8, 16, 32 and 60 minutes, 2, 4, 8 and 8 hours, for 24 hours",
      repeatsForSeconds: 86_400,
    }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/square/square-nodejs-sdk/blob/c58c6e097af6717e5c728712f79f89f6cd9da12f/tests/integration/webhooks.test.ts",
  },
  sample: {
    type: "payment.updated",
    newId: randomUUID,
    headers: ({ now }) => ({
      "user-agent": "Square Connect v2",
      "square-environment": "Sandbox",
      "square-initial-delivery-timestamp": iso(now),
    }),
    content: {
      json: ({ id, type, now }) => {
        const paymentId = `${base62(27)}ZY`;
        const money = { amount: 1250, currency: "USD" };
        return {
          merchant_id: "MLQW8T3XN5KD2",
          type,
          event_id: id,
          created_at: iso(now),
          data: {
            type: "payment",
            id: paymentId,
            object: {
              payment: {
                id: paymentId,
                created_at: iso(now - 2000),
                updated_at: iso(now),
                amount_money: money,
                approved_money: money,
                total_money: money,
                status: "COMPLETED",
                source_type: "CARD",
                card_details: {
                  status: "CAPTURED",
                  card: { card_brand: "VISA", last_4: "1111", exp_month: 12, exp_year: 2030, card_type: "CREDIT" },
                  entry_method: "KEYED",
                },
                location_id: "LB4Z7M2R9QXTC",
                order_id: `${base62(27)}ZY`,
                receipt_number: paymentId.slice(0, 4),
                version: 3,
              },
            },
          },
        };
      },
    },
  },
});
