import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Gemini API",
  docs: "https://ai.google.dev/gemini-api/docs/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    { repeats: "automatic", schedule: "ever later, for 24 hours", repeatsForSeconds: 86_400 },
  ),
  evidence: { kind: "sdk", by: "standardwebhooks@1.1.1" },
});
