import { provider } from "../provider.ts";

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
  evidence: { kind: "sdk", by: "atlassian-jwt@2.0.3" },
});
