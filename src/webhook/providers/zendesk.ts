import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Zendesk",
  docs: "https://developer.zendesk.com/documentation/webhooks/verifying/",
  schemes: timestamped(
    "x-zendesk-webhook-signature",
    { header: "x-zendesk-webhook-signature-timestamp", unit: "iso" },
    "{timestamp}{body}",
    { encodings: ["base64"] },
  ),
  id: ["body:id"],
  type: ["body:type"],
});
