import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "OpenAI",
  docs: "https://platform.openai.com/docs/guides/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  isEnvelope: true,
  facts: says("https://platform.openai.com/docs/guides/webhooks", {
    answer: "any 2xx; a redirect is a failure",
    repeats: "automatic",
    schedule: "ever later, for 72 hours",
    repeatsForSeconds: 72 * 3600,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/openai/openai-node/blob/7b7d6ca71130d37ec09792c50056b47861f2eccf/tests/api-resources/webhooks.test.ts",
  },
});
