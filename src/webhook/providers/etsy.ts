import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Etsy",
  docs: "https://developers.etsy.com/documentation/essentials/webhooks/",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:event_type"],
  facts: says("https://developers.etsy.com/documentation/essentials/webhooks", { repeats: "automatic" }),
});
