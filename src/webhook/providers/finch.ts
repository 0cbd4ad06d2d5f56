import { provider } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Finch",
  docs: "https://developer.tryfinch.com/developer-resources/Webhooks",
  schemes: standardWebhooks("webhook", {
    signature: { headers: ["finch-signature"] },
    timestamp: { header: "finch-timestamp" },
    signed: "{header:finch-event-id}.{timestamp}.{body}",
  }),
  id: ["header:finch-event-id"],
  type: ["body:event_type"],
  evidence: {
    kind: "published",
    by: "https://github.com/Finch-API/finch-api-node/blob/9ebd48fb8177ea7182e88f58866797226316c523/tests/api-resources/webhooks.test.ts",
  },
});
