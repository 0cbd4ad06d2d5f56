import { randomUUID } from "node:crypto";
import type { Template } from "./template.ts";
import { base62, hex, integer, iso, isoSeconds } from "./values.ts";

/** Shops. */
export const COMMERCE: Record<string, Template> = {
  shopify: {
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
  woocommerce: {
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
};
