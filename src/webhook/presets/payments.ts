import type { Preset } from "./preset.ts";
import { base64OfBody, FORM, hmacOfBody, JSON_OR_FORM, preset, timestamped, timestampedPairs } from "./signing.ts";

/** Providers that take payments. */
export const PAYMENTS: Record<string, Preset> = {
  affirm: preset(
    "Affirm",
    "https://docs.affirm.com/developers/docs/checking-webhook-signatures",
    timestampedPairs("x-affirm-signature", { label: "v0", algorithm: "sha512" }),
    { type: ["body:event"], contentTypes: JSON_OR_FORM },
  ),
  airwallex: preset(
    "Airwallex",
    "https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events",
    // The page shows milliseconds. Receivers are known that take seconds.
    (["ms", "s"] as const).map((unit) =>
      timestamped("x-signature", { header: "x-timestamp", unit }, "{timestamp}{body}"),
    ),
    { id: ["body:id"], type: ["body:name"] },
  ),
  authorize_net: preset(
    "Authorize.net",
    "https://developer.authorize.net/api/reference/features/webhooks.html",
    // The page does not say how the signature key becomes bytes, and receivers are known for either way.
    [
      hmacOfBody("x-anet-signature", { label: "sha512=", algorithm: "sha512", key: "hex" }),
      hmacOfBody("x-anet-signature", { label: "sha512=", algorithm: "sha512" }),
    ],
    { id: ["body:notificationId"], type: ["body:eventType"] },
  ),
  bolt: preset(
    "Bolt",
    "https://help.bolt.com/developers/guides/webhooks/hook-verification/",
    base64OfBody("x-bolt-hmac-sha256"),
  ),
  braintree: preset(
    "Braintree",
    "https://developer.paypal.com/braintree/docs/guides/webhooks/parse",
    // Pairs of a public key and a signature. Some of Braintree's libraries sign the line end that follows the payload.
    ["{form:bt_payload}", "{form:bt_payload}\n"].map((signed) =>
      hmacOfBody(
        { form: "bt_signature" },
        { format: "pairs", separator: "&", assignment: "|", algorithm: "sha1", signed, key: "sha1" },
      ),
    ),
    { covers: "part", contentTypes: [FORM] },
  ),
  checkout_com: preset(
    "Checkout.com",
    "https://www.checkout.com/docs/developer-resources/webhooks/manage-webhooks/set-up-your-webhook-receiver",
    hmacOfBody("cko-signature"),
    { id: ["body:id"], type: ["body:type"] },
  ),
  coinbase_commerce: preset(
    "Coinbase Commerce",
    "https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-security",
    hmacOfBody("x-cc-webhook-signature"),
    { id: ["body:event.id"], type: ["body:event.type"] },
  ),
  gocardless: preset(
    "GoCardless",
    "https://developer.gocardless.com/getting-started/stay-up-to-date-with-webhooks-v2/",
    hmacOfBody("webhook-signature"),
    { id: ["body:meta.webhook_id"], type: ["body:events.0.resource_type"] },
  ),
  mercado_pago: preset(
    "Mercado Pago",
    "https://www.mercadopago.com.br/developers/en/docs/your-integrations/notifications/webhooks",
    // The page asks for the id in lower case, while its libraries take it as sent.
    ["{query:data.id}", "{query-lower:data.id}"].map((id) =>
      timestampedPairs("x-signature", {
        timestamp: { pair: "ts" },
        optional: [`id:${id};`, "request-id:{header:x-request-id};"],
        signed: "ts:{timestamp};",
      }),
    ),
    { covers: "part", id: ["body:id"], type: ["body:type"] },
  ),
  paystack: preset(
    "Paystack",
    "https://paystack.com/docs/payments/webhooks/",
    hmacOfBody("x-paystack-signature", { algorithm: "sha512" }),
    { type: ["body:event"] },
  ),
  primer: preset(
    "Primer",
    "https://primer.io/docs/api-reference/get-started/configure-webhooks",
    // The second header is there for 24 hours after a rotation.
    base64OfBody({ headers: ["x-signature-primary", "x-signature-secondary"] }),
    { type: ["body:eventType"] },
  ),
  razorpay: preset(
    "Razorpay",
    "https://razorpay.com/docs/webhooks/validate-test/",
    hmacOfBody("x-razorpay-signature"),
    { id: ["header:x-razorpay-event-id"], type: ["body:event"] },
  ),
  square: preset(
    "Square",
    "https://developer.squareup.com/docs/webhooks/step3validate",
    base64OfBody("x-square-hmacsha256-signature", { signed: "{url}{body}" }),
    { id: ["body:event_id"], type: ["body:type"] },
  ),
  stripe: preset("Stripe", "https://docs.stripe.com/webhooks/signature", timestampedPairs("stripe-signature"), {
    id: ["body:id"],
    type: ["body:type"],
  }),
};
