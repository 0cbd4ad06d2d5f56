import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Render",
  docs: "https://render.com/docs/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  facts: says(
    "https://github.com/api-evangelist/render/blob/e9b0224599bdc7150fdf08fa98d1cbe7084150a4/asyncapi/render-webhooks-asyncapi.yml",
    {
      answer: "any 2xx",
      answerSeconds: 15,
      repeats: "automatic",
      schedule: "7 times with an exponential backoff",
      repeatsForSeconds: 33 * 3600,
      disables: "after a delivery of which every attempt failed",
    },
  ),
  evidence: { kind: "sdk", by: "standardwebhooks@1.1.1" },
});
