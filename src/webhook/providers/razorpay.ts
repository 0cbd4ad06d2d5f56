import { base62, integer, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Razorpay",
  docs: "https://razorpay.com/docs/webhooks/validate-test/",
  schemes: hmacOfBody("x-razorpay-signature"),
  id: ["header:x-razorpay-event-id"],
  type: ["body:event"],
  facts: {
    ...says("https://razorpay.com/docs/webhooks/best-practices/", {
      repeatChanges: [],
      answer: "any 2xx",
      answerSeconds: 5,
      repeats: "automatic",
      schedule: "with an exponential backoff",
      repeatsForSeconds: 86_400,
      disables: "after failures for 24 hours",
    }),
    ...says("https://razorpay.com/docs/webhooks/faqs/", { keepsDays: 15 }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/razorpay/razorpay-node/blob/9737ef17342b8a551f7af2413c8d24df559accc8/test/utils/razorpay-utils.spec.js",
  },
  sample: {
    type: "payment.captured",
    newId: () => base62(14),
    headers: ({ id }) => ({ "user-agent": "Razorpay-Webhook/v1", "x-razorpay-event-id": id, "request-id": id }),
    content: {
      json: ({ type, now }) => ({
        entity: "event",
        account_id: "acc_QpX4vT7bZk2mNc",
        event: type,
        contains: ["payment"],
        payload: {
          payment: {
            entity: {
              id: `pay_${base62(14)}`,
              entity: "payment",
              amount: 50_000,
              currency: "INR",
              status: "captured",
              order_id: `order_${base62(14)}`,
              invoice_id: null,
              international: false,
              method: "upi",
              amount_refunded: 0,
              refund_status: null,
              captured: true,
              description: "Order 1042",
              card_id: null,
              bank: null,
              wallet: null,
              vpa: "customer@upi",
              email: "customer@example.com",
              contact: "+910000000000",
              notes: [],
              fee: 1180,
              tax: 180,
              error_code: null,
              error_description: null,
              acquirer_data: { rrn: String(integer(12)) },
              created_at: seconds(now - 4000),
            },
          },
        },
        created_at: seconds(now),
      }),
    },
  },
});
