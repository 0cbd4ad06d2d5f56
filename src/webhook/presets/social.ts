import type { Preset } from "./preset.ts";
import { base64OfBody, hmacOfBody, preset, timestamped, timestampedPairs } from "./signing.ts";

/** Social networks. */
export const SOCIAL: Record<string, Preset> = {
  linkedin: preset(
    "LinkedIn",
    "https://learn.microsoft.com/en-us/linkedin/shared/api-guide/webhook-validation",
    hmacOfBody("x-li-signature", { signed: "hmacsha256={body}" }),
  ),
  meta: preset(
    "Meta",
    "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
    hmacOfBody("x-hub-signature-256", { label: "sha256=" }),
    { type: ["body:entry.0.changes.0.field", "body:object"], handshake: "meta" },
  ),
  tiktok: preset(
    "TikTok",
    "https://developers.tiktok.com/doc/webhooks-verification",
    timestampedPairs("tiktok-signature", { label: "s" }),
    { type: ["body:event"] },
  ),
  twitch: preset(
    "Twitch",
    "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
    timestamped(
      "twitch-eventsub-message-signature",
      { header: "twitch-eventsub-message-timestamp", unit: "iso" },
      "{header:twitch-eventsub-message-id}{timestamp}{body}",
      { label: "sha256=", toleranceSeconds: 600 },
    ),
    { id: ["header:twitch-eventsub-message-id"], type: ["body:subscription.type"], handshake: "twitch" },
  ),
  x: preset(
    "X",
    "https://docs.x.com/x-api/webhooks/quickstart",
    base64OfBody("x-twitter-webhooks-signature", { label: "sha256=" }),
    { handshake: "x" },
  ),
};
