import type { Preset } from "./preset.ts";
import {
  base64OfBody,
  FORM,
  hmacOfBody,
  keySignature,
  preset,
  standardPreset,
  standardWebhooks,
  timestampedPairs,
} from "./signing.ts";

/** Providers of banking, accounting and billing. */
export const FINANCE: Record<string, Preset> = {
  brex: standardPreset("Brex", "https://developer.brex.com/docs/webhooks/", "webhook", "body:event_type"),
  chargify: preset(
    "Chargify",
    "https://maxio-chargify.zendesk.com/hc/en-us/articles/5405357509645-Webhooks-Reference",
    hmacOfBody("x-chargify-webhook-signature-hmac-sha-256"),
    { id: ["header:x-chargify-webhook-id"], type: ["body:event"], contentTypes: [FORM] },
  ),
  dwolla: preset(
    "Dwolla",
    "https://developers.dwolla.com/docs/balance/webhooks/process-validate",
    hmacOfBody("x-request-signature-sha-256"),
    { id: ["body:id"], type: ["body:topic"] },
  ),
  // In its events, `type` is always "event".
  increase: standardPreset("Increase", "https://increase.com/documentation/webhooks", "webhook", "body:category"),
  lemon_squeezy: preset(
    "Lemon Squeezy",
    "https://docs.lemonsqueezy.com/help/webhooks/signing-requests",
    hmacOfBody("x-signature"),
    { type: ["body:meta.event_name"] },
  ),
  modern_treasury: preset(
    "Modern Treasury",
    "https://docs.moderntreasury.com/platform/reference/webhooks",
    hmacOfBody("x-signature"),
  ),
  paddle: preset(
    "Paddle",
    "https://developer.paddle.com/webhooks/signature-verification",
    timestampedPairs("paddle-signature", {
      label: "h1",
      separator: ";",
      timestamp: { pair: "ts" },
      signed: "{timestamp}:{body}",
    }),
    { id: ["body:event_id"], type: ["body:event_type"] },
  ),
  plaid: preset(
    "Plaid",
    "https://plaid.com/docs/api/webhooks/webhook-verification/",
    {
      type: "jwt",
      header: "plaid-verification",
      algorithms: ["ES256"],
      bodyClaim: "request_body_sha256",
      maxAgeSeconds: 300,
    },
    { type: ["body:webhook_code"] },
  ),
  polar: preset(
    "Polar",
    "https://polar.sh/docs/integrate/webhooks/delivery",
    // Its secret is not decoded: the key is the text.
    standardWebhooks("webhook", { key: "utf8" }),
    { id: ["header:webhook-id"], type: ["body:type"] },
  ),
  quickbooks: preset(
    "QuickBooks",
    "https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks",
    base64OfBody("intuit-signature"),
  ),
  recurly: preset(
    "Recurly",
    "https://docs.recurly.com/recurly-subscriptions/docs/signature-verification",
    // Receivers are known that take seconds.
    (["ms", "s"] as const).map((unit) =>
      hmacOfBody("recurly-signature", {
        format: "positional",
        timestamp: { position: 0, unit },
        signed: "{timestamp}.{body}",
      }),
    ),
    { id: ["header:recurly-notification-id"], type: ["body:event_type"] },
  ),
  wise: preset(
    "Wise",
    "https://docs.wise.com/guides/developer/webhooks/event-handling",
    keySignature("rsa", "x-signature-sha256"),
    { id: ["header:x-delivery-id"], type: ["body:event_type"] },
  ),
  xero: preset(
    "Xero",
    "https://developer.xero.com/documentation/guides/webhooks/overview/",
    base64OfBody("x-xero-signature"),
    { type: ["body:events.0.eventType"], refusedStatus: 401, needsEmptyAnswers: true },
  ),
};
