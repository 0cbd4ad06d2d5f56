import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Segment",
  docs: "https://segment.com/docs/connections/destinations/catalog/actions-webhook/",
  schemes: hmacOfBody("x-signature", { algorithm: "sha1" }),
  facts: {
    ...says("https://segment.com/docs/connections/destinations/#retries-between-segment-and-destinations", {
      repeats: "automatic",
      schedule: "with a randomized exponential backoff",
      repeatsForSeconds: 4 * 3600,
    }),
    ...says("https://segment.com/docs/connections/destinations/catalog/webhooks/", { answerSeconds: 5 }),
    ...says("https://segment.com/docs/connections/destinations/catalog/actions-webhook/", { batches: true }),
  },
  evidence: { kind: "sdk", by: "@segment/action-destinations@3.497.0" },
});
