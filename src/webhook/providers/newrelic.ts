import { randomUUID } from "node:crypto";
import { provider } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

export default provider({
  title: "New Relic",
  docs: "https://docs.newrelic.com/docs/alerts/get-notified/notification-integrations/",
  schemes: [BEARER_TOKEN, { type: "basic" }],
  covers: "none",
  type: ["body:state", "body:current_state"],
  dedupe: {
    mode: "off",
    why: "The account writes the body, which may be the same for each change of an issue: its id is that of the issue.",
    source: "https://docs.newrelic.com/docs/alerts/get-notified/notification-integrations/",
  },
  sample: {
    type: "ACTIVATED",
    content: {
      json: ({ type, now }) => {
        const id = randomUUID();
        return {
          id,
          issueUrl: `https://radar-api.service.newrelic.com/accounts/1048392/issues/${id}?notifier=WEBHOOK`,
          title: "Memory used above 90 for at least 2 minutes on 'web-1'",
          priority: "CRITICAL",
          impactedEntities: ["web-1"],
          totalIncidents: 1,
          state: type,
          trigger: "STATE_CHANGE",
          isCorrelated: false,
          createdAt: now - 60_000,
          updatedAt: now,
          sources: ["newrelic"],
          alertPolicyNames: ["Hosts"],
          alertConditionNames: ["High memory usage"],
          workflowName: "Webhook",
        };
      },
    },
  },
});
