import { provider } from "../provider.ts";
import { standardWebhooks } from "../signing.ts";

export default provider({
  title: "OpenAI",
  docs: "https://platform.openai.com/docs/guides/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  isEnvelope: true,
  evidence: {
    kind: "published",
    by: "https://github.com/openai/openai-node/blob/7b7d6ca71130d37ec09792c50056b47861f2eccf/tests/api-resources/webhooks.test.ts",
  },
});
