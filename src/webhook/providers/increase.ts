import { provider } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Increase",
  docs: "https://increase.com/documentation/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  // In its events, `type` is always "event".
  type: ["body:category"],
  evidence: { kind: "sdk", by: "increase@0.583.0" },
});
