import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Dwolla",
  docs: "https://developers.dwolla.com/docs/balance/webhooks/process-validate",
  schemes: hmacOfBody("x-request-signature-sha-256"),
  id: ["body:id"],
  type: ["body:topic"],
  facts: says("https://developers.dwolla.com/docs/api-reference/webhook-subscriptions", {
    answer: "any 2xx",
    answerSeconds: 10,
    repeats: "automatic",
    schedule: "after 15 and 45 minutes, and 2, 3, 6, 12, 24 and 24 hours",
    repeatsForSeconds: 72 * 3600,
    disables: "pauses after 400 failures in a row and 24 hours without a delivery that arrived",
  }),
});
