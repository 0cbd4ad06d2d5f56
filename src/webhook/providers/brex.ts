import { provider } from "../provider.ts";
import { standardWebhooks } from "../signing.ts";

export default provider({
  title: "Brex",
  docs: "https://developer.brex.com/docs/webhooks/",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:event_type"],
});
