import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Replicate",
  docs: "https://replicate.com/docs/topics/webhooks/verify-webhook",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:status"],
  facts: says(
    "https://github.com/api-evangelist/replicate/blob/8489b8011a1032440890d667551cec85c703e3e9/asyncapi/replicate-asyncapi.yml",
    {
      answer: "any 2xx",
      repeats: "automatic",
      schedule: "with an exponential backoff, for predictions that have ended",
      repeatsForSeconds: 60,
    },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/replicate/replicate-javascript/blob/2fd6f3944f5e252f2eb7cd4e9e5416786b9c4861/index.test.ts",
  },
});
