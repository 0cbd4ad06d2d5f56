import { randomUUID } from "node:crypto";
import type { SampleEvent, Template } from "./template.ts";
import { base62, integer, iso, isoSeconds, seconds, ulid } from "./values.ts";

const paymentXml = ({ type, now }: SampleEvent) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<notification>
  <timestamp type="datetime">${isoSeconds(now)}Z</timestamp>
  <kind>${type.replace(/[<&]/g, (sign) => (sign === "<" ? "&lt;" : "&amp;"))}</kind>
  <source-merchant-id>acme_sandbox</source-merchant-id>
  <subject>
    <subscription>
      <id>${base62(6).toLowerCase()}</id>
      <plan-id>pro-monthly</plan-id>
      <status>Active</status>
      <price>19.00</price>
      <number-of-billing-cycles nil="true"/>
    </subscription>
  </subject>
</notification>
`;

/** Payments and subscriptions. */
export const PAYMENTS: Record<string, Template> = {
  adyen: {
    type: "AUTHORISATION",
    content: {
      json: ({ type, now }) => ({
        live: "false",
        notificationItems: [
          {
            NotificationRequestItem: {
              additionalData: { hmacSignature: "" },
              amount: { value: 4200, currency: "EUR" },
              eventCode: type,
              eventDate: `${isoSeconds(now)}+00:00`,
              merchantAccountCode: "ExampleShop",
              merchantReference: `order-${integer(6)}`,
              paymentMethod: "visa",
              pspReference: base62(16).toUpperCase(),
              success: "true",
            },
          },
        ],
      }),
    },
  },
  braintree: {
    type: "subscription_charged_successfully",
    content: {
      form: (event) => ({
        bt_signature: "",
        bt_payload: `${Buffer.from(paymentXml(event)).toString("base64")}\n`,
      }),
    },
  },
  chargify: {
    type: "payment_success",
    newId: () => String(integer(10)),
    headers: ({ id }) => ({ "x-chargify-webhook-id": id }),
    content: {
      form: ({ id, type, now }) => {
        const time = `${isoSeconds(now).replace("T", " ")} +0000`;
        return {
          id,
          event: type,
          "payload[site][id]": "51804",
          "payload[site][subdomain]": "acme-test",
          "payload[subscription][id]": "70418236",
          "payload[subscription][state]": "active",
          "payload[subscription][customer][email]": "customer@example.com",
          "payload[subscription][product][handle]": "pro-monthly",
          "payload[transaction][id]": String(integer(9)),
          "payload[transaction][amount_in_cents]": "1900",
          "payload[transaction][success]": "true",
          "payload[transaction][created_at]": time,
          created_at: time,
        };
      },
    },
  },
  paddle: {
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
  razorpay: {
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
  square: {
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
  stripe: {
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
};
