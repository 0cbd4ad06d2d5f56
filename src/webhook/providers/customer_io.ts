import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Customer.io",
  docs: "https://customer.io/docs/journeys/webhooks/",
  schemes: timestamped("x-cio-signature", { header: "x-cio-timestamp" }, "v0:{timestamp}:{body}"),
  id: ["body:event_id"],
  type: ["body:metric"],
  facts: says("https://docs.customer.io/api/webhooks/", {
    answer: "any 2xx",
    answerSeconds: 4,
    repeats: "automatic",
    schedule: "with growing delays",
    repeatsForSeconds: 7 * 86_400,
  }),
  evidence: { kind: "sdk", by: "customerio-node@5.2.0" },
});
