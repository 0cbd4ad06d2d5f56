import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Customer.io",
  docs: "https://customer.io/docs/journeys/webhooks/",
  schemes: timestamped("x-cio-signature", { header: "x-cio-timestamp" }, "v0:{timestamp}:{body}"),
  id: ["body:event_id"],
  type: ["body:metric"],
  evidence: { kind: "sdk", by: "customerio-node@5.2.0" },
});
