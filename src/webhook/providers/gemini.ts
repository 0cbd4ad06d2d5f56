import { provider } from "../provider.ts";
import { standardWebhooks } from "../signing.ts";

export default provider({
  title: "Gemini API",
  docs: "https://ai.google.dev/gemini-api/docs/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  evidence: { kind: "sdk", by: "standardwebhooks@1.1.1" },
});
