import { provider, says } from "../provider.ts";
import { standardWebhooks, timestamped } from "../signature/signing.ts";

export default provider({
  title: "Bird",
  docs: "https://docs.bird.com/api/notifications-api/api-reference/webhook-subscriptions/verifying-a-webhook-subscription",
  schemes: [
    timestamped(
      "messagebird-signature",
      { header: "messagebird-request-timestamp" },
      "{timestamp}\n{url}\n{body-sha256}",
      // Its repeats keep the first time, for a day (https://docs.bird.com/api/notifications-api/retries).
      { encodings: ["base64"], toleranceSeconds: 86_400 },
    ),
    // Its newer platform: https://bird.com/docs/guides/webhooks
    standardWebhooks("webhook"),
  ],
  type: ["body:event", "body:type"],
  facts: says("https://docs.bird.com/api/notifications-api/api-reference/webhook-subscriptions", {
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "with growing delays",
    repeatsForSeconds: 8 * 3600,
  }),
});
