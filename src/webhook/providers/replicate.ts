import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";
import { standardWebhooks } from "../signing.ts";

export default provider({
  title: "Replicate",
  docs: "https://replicate.com/docs/topics/webhooks/verify-webhook",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:status"],
  facts: says("https://replicate.com/docs/topics/webhooks/receive-webhook", {
    repeats: "automatic",
    schedule: "with an exponential backoff, for predictions that have ended",
    repeatsForSeconds: 60,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/replicate/replicate-javascript/blob/2fd6f3944f5e252f2eb7cd4e9e5416786b9c4861/index.test.ts",
  },
});
