import { provider } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Vanta",
  docs: "https://developer.vanta.com/docs/webhooks",
  schemes: standardWebhooks("svix"),
  id: ["header:svix-id"],
  type: ["body:type"],
  evidence: { kind: "sdk", by: "svix@2.5.0" },
});
