import { randomUUID } from "node:crypto";
import { integer, iso, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Shopify",
  docs: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
  schemes: base64OfBody({ headers: ["x-shopify-hmac-sha256", "shopify-hmac-sha256"] }),
  // One event id may be shared by deliveries of several topics.
  id: [
    "header:x-shopify-webhook-id",
    "header:shopify-webhook-id",
    "header:x-shopify-event-id",
    "header:shopify-event-id",
  ],
  type: ["header:x-shopify-topic", "header:shopify-topic"],
  dedupe: {
    mode: "id",
    why: "Updates of one object may have equal bytes, for example with include_fields. A repeat keeps its webhook id.",
    source: "https://shopify.dev/docs/apps/build/webhooks/customize/modify-payloads",
  },
  refusedStatus: 401,
  facts: {
    ...says("https://shopify.dev/docs/apps/build/webhooks/customize/modify-payloads", { sameBytes: true }),
    ...says("https://shopify.dev/changelog/updates-to-webhook-retry-mechanism", {
      repeatChanges: [],
      repeats: "automatic",
      schedule: "8 times with an exponential backoff",
      repeatsForSeconds: 4 * 3600,
    }),
    ...says("https://dev.to/shannonllc/shopify-webhooks-hmac-verification-5-second-timeout-retries-jkj", {
      answer: "any 2xx",
      answerSeconds: 5,
      disables: "after 8 failures in a row, a subscription made through the Admin API is deleted",
    }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/Shopify/shopify-app-js/blob/ef2043d4a8c4ca0adb9020d76090b2fb94979dab/packages/apps/shopify-api/lib/webhooks/__tests__/validate.test.ts",
  },
  sample: {
    type: "orders/create",
    newId: randomUUID,
    headers: ({ id, type, now }) => ({
      "user-agent": "Shopify-Captain-Hook",
      "x-shopify-api-version": "2026-10",
      "x-shopify-event-id": randomUUID(),
      "x-shopify-shop-domain": "acme-test.myshopify.com",
      "x-shopify-test": "true",
      "x-shopify-topic": type,
      "x-shopify-triggered-at": iso(now),
      "x-shopify-webhook-id": id,
    }),
    content: {
      json: ({ now }) => {
        const id = integer(13);
        const time = `${isoSeconds(now)}+00:00`;
        return {
          id,
          admin_graphql_api_id: `gid://shopify/Order/${id}`,
          cancel_reason: null,
          cancelled_at: null,
          confirmed: true,
          contact_email: "customer@example.com",
          created_at: time,
          currency: "EUR",
          current_total_price: "45.00",
          email: "customer@example.com",
          financial_status: "paid",
          fulfillment_status: null,
          name: "#1042",
          note: null,
          number: 42,
          order_number: 1042,
          processed_at: time,
          subtotal_price: "40.00",
          tags: "",
          test: true,
          total_price: "45.00",
          total_tax: "7.18",
          updated_at: time,
          customer: { id: 7_204_511_839_022, email: "customer@example.com", first_name: "Test", last_name: "Customer" },
          line_items: [
            {
              id: integer(14),
              admin_graphql_api_id: `gid://shopify/LineItem/${integer(14)}`,
              name: "Coffee mug - Blue",
              price: "20.00",
              product_id: 8_310_442_907_115,
              quantity: 2,
              requires_shipping: true,
              sku: "MUG-BLUE",
              taxable: true,
              title: "Coffee mug",
              variant_id: 44_127_903_658_204,
              variant_title: "Blue",
            },
          ],
        };
      },
    },
  },
});
