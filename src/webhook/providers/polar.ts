import { provider } from "../provider.ts";
import { standardWebhooks } from "../signing.ts";

export default provider({
  title: "Polar",
  docs: "https://polar.sh/docs/integrate/webhooks/delivery",
  // Its secret is not decoded: the key is the text.
  schemes: standardWebhooks("webhook", { key: "utf8" }),
  id: ["header:webhook-id"],
  type: ["body:type"],
  evidence: { kind: "sdk", by: "@polar-sh/sdk@0.49.0" },
});
