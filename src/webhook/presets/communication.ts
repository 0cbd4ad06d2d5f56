import type { Preset } from "./preset.ts";
import { base64OfBody, FORM, hmacOfBody, JSON_OR_FORM, keySignature, preset, timestamped } from "./signing.ts";

/** Messages, calls and the desks that answer them. */
export const COMMUNICATION: Record<string, Preset> = {
  bird: preset(
    "Bird",
    "https://docs.bird.com/api/notifications-api/api-reference/webhook-subscriptions/verifying-a-webhook-subscription",
    timestamped(
      "messagebird-signature",
      { header: "messagebird-request-timestamp" },
      "{timestamp}\n{url}\n{body-sha256}",
      { encodings: ["base64"] },
    ),
  ),
  discord: preset(
    "Discord",
    "https://docs.discord.com/developers/events/webhook-events",
    keySignature("ed25519", "x-signature-ed25519", {
      encodings: ["hex"],
      timestamp: { header: "x-signature-timestamp" },
      signed: "{timestamp}{body}",
    }),
    { id: ["body:id"], type: ["body:event.type", "body:type"], handshake: "discord", refusedStatus: 401 },
  ),
  front: preset(
    "Front",
    "https://dev.frontapp.com/docs/application-webhooks",
    timestamped("x-front-signature", { header: "x-front-request-timestamp", unit: "ms" }, "{timestamp}:{body}", {
      encodings: ["base64"],
    }),
    { type: ["body:type"] },
  ),
  intercom: preset(
    "Intercom",
    "https://developers.intercom.com/docs/webhooks/setting-up-webhooks",
    hmacOfBody("x-hub-signature", { label: "sha1=", algorithm: "sha1" }),
    { id: ["body:id"], type: ["body:topic"] },
  ),
  line: preset(
    "LINE",
    "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
    base64OfBody("x-line-signature"),
    { id: ["body:events.0.webhookEventId"], type: ["body:events.0.type"] },
  ),
  messagebird: preset(
    "MessageBird",
    "https://developers.messagebird.com/api/#verifying-http-requests",
    {
      type: "jwt",
      header: "messagebird-signature-jwt",
      algorithms: ["HS256", "HS384", "HS512"],
      issuer: "MessageBird",
      bodyClaim: "payload_hash",
      isBodyOptional: true,
      urlClaim: "url_hash",
    },
    { id: ["claim:jti"], contentTypes: JSON_OR_FORM },
  ),
  ms_teams: preset(
    "Microsoft Teams",
    "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook",
    base64OfBody("authorization", { label: "HMAC ", key: "base64" }),
    { id: ["body:id"], type: ["body:type"] },
  ),
  nylas: preset("Nylas", "https://developer.nylas.com/docs/v3/notifications/", hmacOfBody("x-nylas-signature"), {
    id: ["body:id"],
    type: ["body:type"],
  }),
  sendbird: preset(
    "Sendbird",
    "https://sendbird.com/docs/chat/platform-api/v3/webhook/webhook-overview",
    hmacOfBody("x-sendbird-signature"),
    { type: ["body:category"] },
  ),
  sinch: preset(
    "Sinch",
    "https://developers.sinch.com/docs/conversation/callbacks",
    timestamped(
      "x-sinch-webhook-signature",
      { header: "x-sinch-webhook-signature-timestamp" },
      "{body}.{header:x-sinch-webhook-signature-nonce}.{timestamp}",
      { encodings: ["base64"] },
    ),
  ),
  slack: preset(
    "Slack",
    "https://docs.slack.dev/authentication/verifying-requests-from-slack/",
    timestamped("x-slack-signature", { header: "x-slack-request-timestamp" }, "v0:{timestamp}:{body}", {
      label: "v0=",
    }),
    { id: ["body:event_id"], type: ["body:event.type", "body:type"], contentTypes: JSON_OR_FORM, handshake: "slack" },
  ),
  telegram: preset(
    "Telegram",
    "https://core.telegram.org/bots/api#setwebhook",
    { type: "token", header: "x-telegram-bot-api-secret-token" },
    { covers: "none", id: ["body:update_id"] },
  ),
  telnyx: preset(
    "Telnyx",
    "https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks",
    keySignature("ed25519", "telnyx-signature-ed25519", {
      timestamp: { header: "telnyx-timestamp" },
      signed: "{timestamp}|{body}",
    }),
    { id: ["body:data.id"], type: ["body:data.event_type"] },
  ),
  twilio: preset(
    "Twilio",
    "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
    [
      { signed: "{url}{form}", only: { mediaType: FORM, withoutQuery: "bodySHA256" }, isIdentity: true as const },
      { signed: "{url}", bodyHash: { query: "bodySHA256" } },
    ].map((what) =>
      base64OfBody("x-twilio-signature", {
        algorithm: "sha1",
        addressForms: ["port", "query-encoded", "normalized"],
        ...what,
      }),
    ),
    {
      // The SID of a message or call is the same in each of its status callbacks.
      id: ["header:i-twilio-idempotency-token"],
      type: ["body:MessageStatus", "body:CallStatus", "body:SmsStatus"],
      contentTypes: [FORM, "application/json"],
    },
  ),
  viber: preset(
    "Viber",
    "https://developers.viber.com/docs/api/rest-bot-api/",
    hmacOfBody("x-viber-content-signature"),
    { id: ["body:message_token"], type: ["body:event"] },
  ),
  vonage: preset(
    "Vonage",
    "https://developer.vonage.com/en/getting-started/concepts/webhooks",
    { type: "jwt", header: "authorization", label: "Bearer ", algorithms: ["HS256"], bodyClaim: "payload_hash" },
    { id: ["claim:jti"] },
  ),
  zendesk: preset(
    "Zendesk",
    "https://developer.zendesk.com/documentation/webhooks/verifying/",
    timestamped(
      "x-zendesk-webhook-signature",
      { header: "x-zendesk-webhook-signature-timestamp", unit: "iso" },
      "{timestamp}{body}",
      { encodings: ["base64"] },
    ),
    { id: ["body:id"], type: ["body:type"] },
  ),
  zoom: preset(
    "Zoom",
    "https://developers.zoom.us/docs/api/webhooks/",
    timestamped("x-zm-signature", { header: "x-zm-request-timestamp" }, "v0:{timestamp}:{body}", { label: "v0=" }),
    { id: ["header:x-zm-request-id"], type: ["body:event"], handshake: "zoom" },
  ),
};
