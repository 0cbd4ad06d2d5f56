import { FORM } from "../content/content.ts";
import { base62, hex, integer, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "WooCommerce",
  docs: "https://woocommerce.com/document/webhooks/",
  schemes: base64OfBody("x-wc-webhook-signature"),
  id: ["header:x-wc-webhook-delivery-id"],
  type: ["header:x-wc-webhook-topic"],
  // A form `webhook_id=N` without a signature, when the webhook is saved, which wants 200:
  // https://github.com/woocommerce/woocommerce/blob/00185c59110751fd07f0dff2ce5fe6c3f2315d1b/includes/class-wc-webhook.php
  handshake: {
    kind: "woocommerce",
    validation: {
      body: { type: FORM, isRight: ({ bytes }) => /^webhook_id=[0-9]{1,20}$/.test(bytes.toString("latin1")) },
    },
  },
  dedupe: {
    mode: "id",
    why: "An order that is created and updated at once is sent twice with equal bytes, each under an id of its own.",
    source: "https://github.com/woocommerce/woocommerce/issues/43019",
  },
  facts: {
    ...says("https://github.com/woocommerce/woocommerce/issues/43019", { sameBytes: true }),
    ...says("https://woocommerce.com/document/webhooks/", {
      answer: "any 2xx, 301 or 302",
      disables: "after 5 deliveries in a row that failed",
    }),
  },
  sample: {
    type: "order.created",
    newId: () => hex(32),
    headers: ({ id, type }) => {
      const [resource = "", event = ""] = type.split(".");
      return {
        "user-agent": "WooCommerce/10.3.4 Hookshot (WordPress/6.8.3)",
        "x-wc-webhook-delivery-id": id,
        "x-wc-webhook-event": event,
        "x-wc-webhook-id": "3",
        "x-wc-webhook-resource": resource,
        "x-wc-webhook-source": "https://shop.example.com/",
        "x-wc-webhook-topic": type,
      };
    },
    content: {
      json: ({ now }) => {
        const id = integer(5);
        const address = {
          first_name: "Test",
          last_name: "Customer",
          company: "",
          address_1: "1 Example Street",
          address_2: "",
          city: "Berlin",
          state: "DE-BE",
          postcode: "10115",
          country: "DE",
        };
        return {
          id,
          parent_id: 0,
          status: "processing",
          currency: "EUR",
          version: "10.3.4",
          prices_include_tax: true,
          date_created: isoSeconds(now),
          date_modified: isoSeconds(now),
          discount_total: "0.00",
          shipping_total: "5.00",
          cart_tax: "6.39",
          total: "45.00",
          total_tax: "7.19",
          customer_id: 12,
          order_key: `wc_order_${base62(13)}`,
          billing: { ...address, email: "customer@example.com", phone: "" },
          shipping: { ...address, phone: "" },
          payment_method: "bacs",
          payment_method_title: "Direct bank transfer",
          created_via: "checkout",
          customer_note: "",
          date_completed: null,
          date_paid: isoSeconds(now),
          number: String(id),
          meta_data: [],
          line_items: [
            {
              id: 315,
              name: "Coffee mug",
              product_id: 93,
              variation_id: 0,
              quantity: 2,
              total: "33.61",
              sku: "MUG-BLUE",
            },
          ],
          date_created_gmt: isoSeconds(now),
          date_modified_gmt: isoSeconds(now),
          currency_symbol: "€",
        };
      },
    },
  },
});
