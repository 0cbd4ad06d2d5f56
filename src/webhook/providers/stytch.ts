import { provider } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Stytch",
  docs: "https://stytch.com/docs/guides/webhooks",
  schemes: standardWebhooks("svix"),
  id: ["header:svix-id"],
  type: ["body:type"],
  evidence: { kind: "sdk", by: "svix@2.5.0" },
});
