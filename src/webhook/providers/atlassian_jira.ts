import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Jira",
  docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
  schemes: hmacOfBody("x-hub-signature", { label: "sha256=" }),
  id: ["header:x-atlassian-webhook-identifier"],
  type: ["body:webhookEvent"],
  evidence: { kind: "published", by: "https://developer.atlassian.com/cloud/jira/platform/webhooks/" },
});
