import type { Preset } from "./preset.ts";
import {
  base64OfBody,
  hmacOfBody,
  keySignature,
  preset,
  standardPreset,
  timestamped,
  timestampedPairs,
} from "./signing.ts";

/** Shops, and what brings the goods to the buyer. */
export const COMMERCE: Record<string, Preset> = {
  aftership: preset(
    "AfterShip",
    "https://www.aftership.com/docs/tracking/webhook/webhook-signature",
    base64OfBody("aftership-hmac-sha256"),
    { id: ["body:event_id"], type: ["body:event"] },
  ),
  ebay: preset(
    "eBay",
    "https://developer.ebay.com/api-docs/commerce/notification/overview.html",
    keySignature("ecdsa", "x-ebay-signature", { format: "json64", label: "signature", algorithm: "sha1" }),
    { id: ["body:notification.notificationId"], type: ["body:metadata.topic"], handshake: "ebay" },
  ),
  etsy: standardPreset(
    "Etsy",
    "https://developers.etsy.com/documentation/essentials/webhooks/",
    "webhook",
    "body:event_type",
  ),
  lob: preset(
    "Lob",
    "https://help.lob.com/print-and-mail/getting-data-and-results/using-webhooks",
    // The page names no unit.
    (["s", "ms"] as const).map((unit) =>
      timestamped("lob-signature", { header: "lob-signature-timestamp", unit }, "{timestamp}.{body}"),
    ),
    { id: ["body:id"], type: ["body:event_type.id"] },
  ),
  onfleet: preset(
    "Onfleet",
    "https://docs.onfleet.com/reference/secrets",
    hmacOfBody("x-onfleet-signature", { algorithm: "sha512", key: "hex" }),
  ),
  shippo: preset(
    "Shippo",
    "https://docs.goshippo.com/docs/tracking/webhooksecurity",
    timestampedPairs("shippo-auth-signature"),
    { type: ["body:event"] },
  ),
  shopify: preset(
    "Shopify",
    "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
    base64OfBody({ headers: ["x-shopify-hmac-sha256", "shopify-hmac-sha256"] }),
    {
      // One event id may be shared by deliveries of several topics.
      id: [
        "header:x-shopify-webhook-id",
        "header:shopify-webhook-id",
        "header:x-shopify-event-id",
        "header:shopify-event-id",
      ],
      type: ["header:x-shopify-topic", "header:shopify-topic"],
      refusedStatus: 401,
    },
  ),
  squarespace: preset(
    "Squarespace",
    "https://developers.squarespace.com/commerce-apis/webhook-subscriptions-overview",
    hmacOfBody("squarespace-signature", { key: "hex" }),
    { id: ["body:id"], type: ["body:topic"] },
  ),
  woocommerce: preset(
    "WooCommerce",
    "https://woocommerce.com/document/webhooks/",
    base64OfBody("x-wc-webhook-signature"),
    { id: ["header:x-wc-webhook-delivery-id"], type: ["header:x-wc-webhook-topic"] },
  ),
};
