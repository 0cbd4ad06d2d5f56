import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Brex",
  docs: "https://developer.brex.com/docs/webhooks/",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:event_type"],
  facts: says("https://developer.brex.com/openapi/webhooks_api", {
    rotation: "two signatures in the header, one for each secret",
  }),
});
