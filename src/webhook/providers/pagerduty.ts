import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "PagerDuty",
  docs: "https://docs.pagerduty.com/developer/verifying-webhook-signatures",
  schemes: hmacOfBody("x-pagerduty-signature", { format: "pairs", label: "v1" }),
  id: ["body:event.id"],
  type: ["body:event.event_type"],
  facts: says(
    "https://github.com/PagerDuty/developer-docs/blob/94224391aa3eac8fa73ea6a6af542dee0613d3e8/docs/webhooks/02-Behavior.md",
    {
      batches: false,
      answer: "any 2xx",
      answerSeconds: 5,
      repeats: "automatic",
      schedule: "again and again for 48 hours, after a 429, 5xx or no answer",
      repeatsForSeconds: 48 * 3600,
      disables: "for 24 hours after 3 lost deliveries in a row",
    },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/PagerDuty/go-pagerduty/blob/d34fb98c09850c92771001dd77a3609acda0ca29/webhookv3/webhookv3_test.go",
  },
});
