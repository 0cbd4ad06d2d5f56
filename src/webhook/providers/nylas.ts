import { echoQuery } from "../provider/described-handshakes.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Nylas",
  docs: "https://developer.nylas.com/docs/v3/notifications/",
  schemes: hmacOfBody("x-nylas-signature"),
  id: ["body:id"],
  type: ["body:type"],
  // With `compressed_delivery` the signature covers the compressed body:
  // https://developer.nylas.com/docs/cookbook/use-cases/build/verify-webhook-signatures/
  encoding: ["gzip"],
  signedOver: "encoded",
  // https://developer.nylas.com/docs/v3/notifications/: the answer to `?challenge=` is exactly its value.
  handshake: { kind: "nylas", ...echoQuery("challenge") },
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    {
      repeatChanges: ["body"],
      answer: "200",
      repeats: "automatic",
      schedule: "twice within 20 minutes, after a 408, 429, 502, 503, 504 or 507",
      repeatsForSeconds: 1200,
      disables: "when 95 % fail for 72 hours",
    },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/nylas/nylas-java/blob/5e0890b8d73604da31f287f76b0bcc83c9eb5b29/src/test/kotlin/com/nylas/util/WebhookRequestValidatorTest.kt",
  },
});
