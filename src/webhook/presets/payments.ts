import type { Preset } from "./preset.ts";
import {
  base64OfBody,
  FORM,
  hmacOfBody,
  JSON_OR_FORM,
  keySignature,
  preset,
  timestamped,
  timestampedPairs,
} from "./signing.ts";

/** What Adyen signs of each notification, joined by colons. */
const ADYEN_FIELDS = [
  "pspReference",
  "originalReference",
  "merchantAccountCode",
  "merchantReference",
  "amount.value",
  "amount.currency",
  "eventCode",
  "success",
];

/** Providers that take payments. */
export const PAYMENTS: Record<string, Preset> = {
  adyen: preset(
    "Adyen",
    "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
    [
      ...["json-raw", "json-escaped"].map((kind) =>
        base64OfBody(
          { each: "notificationItems", json: "NotificationRequestItem.additionalData.hmacSignature" },
          {
            key: "hex",
            signed: ADYEN_FIELDS.map((name) => {
              const kindOf = name === "merchantReference" ? kind : "json-or-empty";
              return `{${kindOf}:NotificationRequestItem.${name}}`;
            }).join(":"),
          },
        ),
      ),
      base64OfBody("hmacsignature", { key: "hex" }),
    ],
    {
      covers: "part",
      type: ["body:notificationItems.0.NotificationRequestItem.eventCode", "body:type"],
      acknowledgement: "[accepted]",
    },
  ),
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
  alipay: preset(
    "Alipay",
    "https://opendocs.alipay.com/common/02mse7",
    ["sign,sign_type", "sign"].map((others) =>
      keySignature("rsa", { form: "sign" }, { signed: `{form-except:${others}}` }),
    ),
    { id: ["body:notify_id"], type: ["body:notify_type"], contentTypes: [FORM], acknowledgement: "success" },
  ),
  authorize_net: preset(
    "Authorize.net",
    "https://developer.authorize.net/api/reference/features/webhooks.html",
    // The page does not say how the signature key becomes bytes. A published delivery has it as text; some receivers decode it.
    [
      hmacOfBody("x-anet-signature", { label: "sha512=", algorithm: "sha512" }),
      hmacOfBody("x-anet-signature", { label: "sha512=", algorithm: "sha512", key: "hex" }),
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
        { format: "pairs", separator: "&", assignment: "|", algorithm: "sha1", signed, key: "sha1", isIdentity: true },
      ),
    ),
    { covers: "part", contentTypes: [FORM] },
  ),
  chargebee: preset(
    "Chargebee",
    "https://www.chargebee.com/docs/billing/2.0/site-configuration/webhook_settings",
    { type: "basic" },
    { covers: "none", id: ["body:id"], type: ["body:event_type"] },
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
  flutterwave: preset(
    "Flutterwave",
    "https://developer.flutterwave.com/docs/webhooks",
    [base64OfBody("flutterwave-signature"), { type: "token", header: "verif-hash" }],
    { covers: "part", id: ["body:webhook_id", "body:id"], type: ["body:type", "body:event"] },
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
  mollie: preset(
    "Mollie",
    "https://docs.mollie.com/reference/webhooks-best-practices",
    hmacOfBody("x-mollie-signature", { label: "sha256=" }),
    { id: ["body:id"], type: ["body:type"] },
  ),
  paypal: preset(
    "PayPal",
    "https://developer.paypal.com/api/rest/webhooks/rest/",
    keySignature("rsa", "paypal-transmission-sig", {
      timestamp: { header: "paypal-transmission-time", unit: "iso" },
      signed: "{header:paypal-transmission-id}|{timestamp}|{option:webhookId}|{body-crc32}",
      // It repeats a delivery for three days.
      toleranceSeconds: 4 * 86_400,
    }),
    {
      options: { webhookId: { is: "the id of the webhook in PayPal" } },
      covers: "part",
      id: ["body:id"],
      type: ["body:event_type"],
    },
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
  wechat_pay: preset(
    "WeChat Pay",
    "https://pay.weixin.qq.com/doc/v3/merchant/4012365342",
    keySignature("rsa", "wechatpay-signature", {
      timestamp: { header: "wechatpay-timestamp" },
      signed: "{timestamp}\n{header:wechatpay-nonce}\n{body}\n",
    }),
    { id: ["body:id"], type: ["body:event_type"] },
  ),
  worldpay: preset(
    "Worldpay",
    "https://docs.worldpay.com/access/products/events/signature",
    // Each item is KEY_ID/SHA256/SIGNATURE.
    hmacOfBody("event-signature", { format: "pairs", assignment: "/SHA256/", encodings: ["hex", "base64"] }),
    { id: ["body:eventId"], type: ["body:eventDetails.type"] },
  ),
};
