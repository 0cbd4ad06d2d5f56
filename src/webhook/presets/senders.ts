import type { Preset } from "./preset.ts";
import { hmacOfBody, preset, standardSchemes, timestampedPairs } from "./signing.ts";

/** Software that sends webhooks on behalf of others. */
export const SENDERS: Record<string, Preset> = {
  cloudevents: preset(
    "CloudEvents",
    "https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md",
    { type: "token", header: "authorization", label: "Bearer " },
    {
      covers: "none",
      id: ["header:ce-id", "body:id"],
      type: ["header:ce-type", "body:type"],
      contentTypes: ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"],
      handshake: "cloudevents",
    },
  ),
  convoy: preset(
    "Convoy",
    "https://getconvoy.io/docs/product-manual/signatures",
    // Each project chooses the hash, the encoding, and whether a timestamp is signed.
    (["sha256", "sha512"] as const).flatMap((algorithm) => [
      hmacOfBody("x-convoy-signature", { algorithm, encodings: ["hex", "base64"] }),
      timestampedPairs("x-convoy-signature", {
        algorithm,
        encodings: ["hex", "base64"],
        signed: "{timestamp},{body}",
      }),
    ]),
    { id: ["header:x-convoy-idempotency-key", "header:x-convoy-eventdelivery-id"] },
  ),
  hook0: preset(
    "Hook0",
    "https://documentation.hook0.com/tutorials/webhook-authentication",
    [
      timestampedPairs("x-hook0-signature", { signed: "{timestamp}.{pair:h}.{headers:h}.{body}" }),
      timestampedPairs("x-hook0-signature", { label: "v0" }),
    ],
    { id: ["header:x-event-id"], type: ["header:x-event-type"] },
  ),
  outpost: preset(
    "Hookdeck Outpost",
    "https://outpost.hookdeck.com/docs/",
    hmacOfBody("x-outpost-signature", { format: "values", label: "v0=" }),
    { id: ["header:x-outpost-event-id"], type: ["header:x-outpost-topic"] },
  ),
  standard_webhooks: preset(
    "Standard Webhooks",
    "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
    standardSchemes("webhook"),
    { id: ["header:webhook-id"], type: ["body:type"] },
  ),
  svix: preset("Svix", "https://docs.svix.com/receiving/verifying-payloads/how", standardSchemes("svix", "webhook"), {
    // The id is in the header that the signature covers.
    type: ["body:type"],
  }),
};
