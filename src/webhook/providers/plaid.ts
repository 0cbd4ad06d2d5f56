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
  evidence: { kind: "sdk", by: "jose@6.2.18" },
});
