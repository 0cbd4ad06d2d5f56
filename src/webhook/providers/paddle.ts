import { iso, ulid } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Paddle",
  docs: "https://developer.paddle.com/webhooks/signature-verification",
  schemes: timestampedPairs("paddle-signature", {
    label: "h1",
    separator: ";",
    timestamp: { pair: "ts" },
    signed: "{timestamp}:{body}",
  }),
  id: ["body:event_id"],
  type: ["body:event_type"],
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/f8a48018583392f7ec4346d7325e90291b528e3a/skills/paddle-webhooks/references/verification.md",
    {
      rotation: "several h1 in one header",
      answer: "200",
      answerSeconds: 5,
      repeats: "automatic",
      schedule: "60 times within 3 days, 20 of them in the first hour; in the sandbox 3 times in 15 minutes",
      repeatsForSeconds: 3 * 86_400,
    },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/PaddleHQ/paddle-node-sdk/blob/b8ee4b12741d88abe5a33f5c8a74735c9ac3653f/src/__tests__/notifications/webhooks-validator.node.test.ts",
  },
  sample: {
    type: "transaction.completed",
    newId: () => `evt_${ulid()}`,
    headers: () => ({ "user-agent": "Paddle" }),
    content: {
      json: ({ id, type, now }) => ({
        event_id: id,
        event_type: type,
        occurred_at: iso(now),
        notification_id: `ntf_${ulid()}`,
        data: {
          id: `txn_${ulid()}`,
          status: "completed",
          customer_id: "ctm_01k9w3f7z2m5t8x1c4b6n0qrds",
          address_id: "add_01k9w3f8a4p7v2y5d8g1j3hemt",
          business_id: null,
          subscription_id: "sub_01k9w3g1c6r9x4a7f0k2m5jbpv",
          invoice_number: "325-10027",
          origin: "web",
          collection_mode: "automatic",
          currency_code: "EUR",
          custom_data: null,
          items: [
            {
              price: {
                id: "pri_01k9w3g9e8t1z6c9h2n4p7kdrx",
                product_id: "pro_01k9w3gj0v3b8e1k4q6s9mftzy",
                description: "Pro, monthly",
                billing_cycle: { interval: "month", frequency: 1 },
                unit_price: { amount: "1900", currency_code: "EUR" },
              },
              quantity: 1,
            },
          ],
          details: { totals: { subtotal: "1597", tax: "303", discount: "0", total: "1900", currency_code: "EUR" } },
          created_at: iso(now - 30_000),
          updated_at: iso(now),
          billed_at: iso(now - 5000),
        },
      }),
    },
  },
});
