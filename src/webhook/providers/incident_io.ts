import { provider } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "incident.io",
  docs: "https://docs.incident.io/integrations/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:event_type"],
  evidence: { kind: "sdk", by: "svix@2.5.0" },
});
