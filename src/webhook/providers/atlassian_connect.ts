import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";

export default provider({
  title: "Atlassian Connect",
  docs: "https://developer.atlassian.com/cloud/jira/platform/understanding-jwt-for-connect-apps/",
  schemes: {
    type: "jwt",
    header: "authorization",
    label: "JWT ",
    algorithms: ["HS256"],
    queryClaim: "qsh",
    needsExpiry: true,
  },
  covers: "none",
  id: ["header:x-atlassian-webhook-identifier"],
  type: ["body:webhookEvent", "body:event"],
  facts: says("https://community.developer.atlassian.com/t/new-jira-cloud-webhook-retry-policy/30554", {
    repeats: "automatic",
    schedule: "after a time-out, 408, 409, 425, 429 and 5xx",
    repeatsForSeconds: 1800,
  }),
  evidence: { kind: "sdk", by: "atlassian-jwt@2.0.3" },
});
