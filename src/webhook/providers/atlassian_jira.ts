import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Jira",
  docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
  schemes: hmacOfBody("x-hub-signature", { label: "sha256=" }),
  id: ["header:x-atlassian-webhook-identifier"],
  type: ["body:webhookEvent"],
  facts: {
    ...says("https://community.developer.atlassian.com/t/new-jira-cloud-webhook-retry-policy/30554", {
      repeats: "automatic",
      schedule: "after a time-out, 408, 409, 425, 429 and 5xx",
      repeatsForSeconds: 1800,
    }),
    ...says("https://hookdeck.com/webhooks/platforms/guide-to-jira-webhooks-features-and-best-practices", {
      answerSeconds: 20,
    }),
  },
  evidence: { kind: "published", by: "https://developer.atlassian.com/cloud/jira/platform/webhooks/" },
});
