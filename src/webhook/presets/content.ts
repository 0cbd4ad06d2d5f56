import type { Preset } from "./preset.ts";
import { base64OfBody, hmacOfBody, preset, timestamped, timestampedPairs } from "./signing.ts";

/** Sites, forms and files. */
export const CONTENT: Record<string, Preset> = {
  box: preset(
    "Box",
    "https://developer.box.com/guides/webhooks/v2/signatures-v2",
    timestamped(
      { headers: ["box-signature-primary", "box-signature-secondary"] },
      { header: "box-delivery-timestamp", unit: "iso" },
      "{body}{timestamp}",
      {
        encodings: ["base64"],
        toleranceSeconds: 600,
      },
    ),
    { id: ["body:id"], type: ["body:trigger"] },
  ),
  dropbox: preset(
    "Dropbox",
    "https://www.dropbox.com/developers/reference/webhooks",
    hmacOfBody("x-dropbox-signature"),
    { handshake: "dropbox" },
  ),
  framer: preset(
    "Framer",
    "https://www.framer.com/help/articles/framer-form-webhook-setup",
    hmacOfBody("framer-signature", { label: "sha256=", signed: "{body}{header:framer-webhook-submission-id}" }),
    { id: ["header:framer-webhook-submission-id"] },
  ),
  sanity: preset(
    "Sanity",
    "https://www.sanity.io/docs/compute-and-ai/webhooks",
    timestampedPairs("sanity-webhook-signature", {
      encodings: ["base64url"],
      timestamp: { pair: "t", unit: "ms" },
    }),
    { id: ["header:idempotency-key"], type: ["header:sanity-operation"] },
  ),
  tally: preset("Tally", "https://tally.so/help/webhooks", base64OfBody("tally-signature"), {
    id: ["body:eventId"],
    type: ["body:eventType"],
  }),
  typeform: preset(
    "Typeform",
    "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
    base64OfBody("typeform-signature", { label: "sha256=" }),
    { id: ["body:event_id"], type: ["body:event_type"] },
  ),
  webflow: preset(
    "Webflow",
    "https://developers.webflow.com/data/reference/request-signatures",
    // The page's example compares milliseconds.
    (["ms", "s"] as const).map((unit) =>
      timestamped("x-webflow-signature", { header: "x-webflow-timestamp", unit }, "{timestamp}:{body}"),
    ),
    { type: ["body:triggerType"] },
  ),
};
