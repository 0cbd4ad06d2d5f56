import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "PagerDuty",
  docs: "https://docs.pagerduty.com/developer/verifying-webhook-signatures",
  schemes: hmacOfBody("x-pagerduty-signature", { format: "pairs", label: "v1" }),
  id: ["body:event.id"],
  type: ["body:event.event_type"],
  evidence: {
    kind: "published",
    by: "https://github.com/PagerDuty/go-pagerduty/blob/d34fb98c09850c92771001dd77a3609acda0ca29/webhookv3/webhookv3_test.go",
  },
});
