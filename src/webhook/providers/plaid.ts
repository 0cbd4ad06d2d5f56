import { provider } from "../provider.ts";

export default provider({
  title: "Plaid",
  docs: "https://plaid.com/docs/api/webhooks/webhook-verification/",
  schemes: {
    type: "jwt",
    header: "plaid-verification",
    algorithms: ["ES256"],
    bodyClaim: "request_body_sha256",
    maxAgeSeconds: 300,
  },
  type: ["body:webhook_code"],
  dedupe: {
    mode: "off",
    why: "SYNC_UPDATES_AVAILABLE of an item has the same bytes each day, and no id.",
    source: "https://github.com/plaid/plaid-go/blob/master/plaid/model_sync_updates_available_webhook.go",
  },
  evidence: { kind: "sdk", by: "jose@6.2.18" },
});
