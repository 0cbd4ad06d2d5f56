import type { Preset } from "./preset.ts";
import { base64OfBody, hmacOfBody, preset, standardPreset, timestampedPairs } from "./signing.ts";

/** Databases, streams, media and models. */
export const DATA: Record<string, Preset> = {
  ably: preset("Ably", "https://ably.com/docs/platform/integrations/webhooks", base64OfBody("x-ably-signature")),
  doppler: preset(
    "Doppler",
    "https://docs.doppler.com/docs/webhooks",
    hmacOfBody("x-doppler-signature", { label: "sha256=" }),
  ),
  gemini: standardPreset("Gemini API", "https://ai.google.dev/gemini-api/docs/webhooks"),
  mongodb_atlas: preset(
    "MongoDB Atlas",
    "https://www.mongodb.com/docs/atlas/tutorial/webhook-integration/",
    base64OfBody("x-mms-signature", { algorithm: "sha1" }),
    // The id in its body is that of the alert, which sends several events.
    { type: ["body:eventTypeName", "header:x-mms-event"] },
  ),
  mux: preset("Mux", "https://www.mux.com/docs/core/verify-webhook-signatures", timestampedPairs("mux-signature"), {
    id: ["body:id"],
    type: ["body:type"],
  }),
  openai: standardPreset("OpenAI", "https://platform.openai.com/docs/guides/webhooks"),
  pusher: preset(
    "Pusher Channels",
    "https://pusher.com/docs/channels/server_api/webhooks/",
    hmacOfBody("x-pusher-signature"),
  ),
  replicate: standardPreset(
    "Replicate",
    "https://replicate.com/docs/topics/webhooks/verify-webhook",
    "webhook",
    "body:status",
  ),
  segment: preset(
    "Segment",
    "https://segment.com/docs/connections/destinations/catalog/actions-webhook/",
    hmacOfBody("x-signature", { algorithm: "sha1" }),
  ),
  supabase: standardPreset("Supabase", "https://supabase.com/docs/guides/auth/auth-hooks"),
};
