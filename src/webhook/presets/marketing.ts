import type { Preset } from "./preset.ts";
import {
  base64OfBody,
  FORM,
  hmacOfBody,
  keySignature,
  preset,
  standardPreset,
  timestamped,
  timestampedPairs,
} from "./signing.ts";

/** Mail, campaigns and customer records. */
export const MARKETING: Record<string, Preset> = {
  airship: preset(
    "Airship",
    "https://support.airship.com/hc/en-us/articles/360032501831-Implementing-a-Signature-Hash-and-Validating-an-Open-Channel-Webhook",
    timestamped("x-ua-signature", { header: "x-ua-timestamp" }, "{timestamp}:{body}"),
  ),
  customer_io: preset(
    "Customer.io",
    "https://customer.io/docs/journeys/webhooks/",
    timestamped("x-cio-signature", { header: "x-cio-timestamp" }, "v0:{timestamp}:{body}"),
    { id: ["body:event_id"], type: ["body:metric"] },
  ),
  dub: preset("Dub", "https://dub.co/docs/concepts/webhooks/verify-webhook-requests", hmacOfBody("dub-signature"), {
    id: ["body:id"],
    type: ["body:event"],
  }),
  hubspot: preset(
    "HubSpot",
    "https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests",
    [
      timestamped(
        "x-hubspot-signature-v3",
        { header: "x-hubspot-request-timestamp", unit: "ms" },
        "{method}{url}{body}{timestamp}",
        { encodings: ["base64"], addressForms: ["decoded"] },
      ),
      hmacOfBody("x-hubspot-signature", { isPrefixHash: true }),
      hmacOfBody("x-hubspot-signature", { isPrefixHash: true, signed: "{method}{url}{body}" }),
    ],
    // A batch has the ids of its events, and none of its own.
    { type: ["body:0.subscriptionType"] },
  ),
  klaviyo: preset(
    "Klaviyo",
    "https://developers.klaviyo.com/en/docs/working_with_system_webhooks",
    // The page shows a date. Receivers are known that take seconds.
    (["http", "s"] as const).map((unit) =>
      timestamped("klaviyo-signature", { header: "klaviyo-timestamp", unit }, "{body}{timestamp}"),
    ),
  ),
  knock: preset(
    "Knock",
    "https://docs.knock.app/developer-tools/outbound-webhooks/overview",
    timestampedPairs("x-knock-signature", {
      label: "s",
      encodings: ["base64"],
      timestamp: { pair: "t", unit: "ms" },
    }),
    { id: ["body:id"], type: ["body:type"] },
  ),
  loops: standardPreset("Loops", "https://loops.so/docs/webhooks", "webhook", "body:eventName"),
  mailgun: preset(
    "Mailgun",
    "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
    hmacOfBody(
      { json: "signature.signature" },
      {
        timestamp: { json: "signature.timestamp" },
        // The token is used once.
        isIdentity: true,
        signed: "{timestamp}{json:signature.token}",
        // It repeats a delivery for eight hours.
        toleranceSeconds: 12 * 3600,
      },
    ),
    { covers: "part", id: ["body:event-data.id"], type: ["body:event-data.event"] },
  ),
  mandrill: preset(
    "Mailchimp Transactional (Mandrill)",
    "https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/",
    base64OfBody("x-mandrill-signature", { algorithm: "sha1", signed: "{url}{form}", isIdentity: true }),
    { contentTypes: [FORM] },
  ),
  postmark: preset(
    "Postmark",
    "https://postmarkapp.com/developer/webhooks/webhooks-overview",
    { type: "basic" },
    { covers: "none", type: ["body:RecordType"] },
  ),
  resend: standardPreset("Resend", "https://resend.com/docs/webhooks/verify-webhooks-requests", "svix"),
  sendgrid: preset(
    "Twilio SendGrid",
    "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
    keySignature("ecdsa", "x-twilio-email-event-webhook-signature", {
      timestamp: { header: "x-twilio-email-event-webhook-timestamp" },
      signed: "{timestamp}{body}",
    }),
    // A batch has the ids of its events, and none of its own.
    { type: ["body:0.event"] },
  ),
};
