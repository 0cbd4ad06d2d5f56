import { randomUUID } from "node:crypto";
import { integer, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Linear",
  docs: "https://linear.app/developers/webhooks",
  schemes: hmacOfBody("linear-signature"),
  id: ["header:linear-delivery"],
  type: ["body:type"],
  dedupe: {
    mode: "id",
    why: "A repeat has another signed time, and the same delivery id.",
    source: "https://linear.app/developers/webhooks",
  },
  facts: says("https://linear.app/developers/webhooks", {
    answer: "200",
    answerSeconds: 5,
    repeats: "automatic",
    schedule: "after 1 minute, 1 hour and 6 hours",
    repeatsForSeconds: 25_260,
    disables: "when the address stays unresponsive",
  }),
  evidence: { kind: "sdk", by: "@linear/sdk@98.0.0" },
  sample: {
    type: "Issue",
    newId: randomUUID,
    headers: ({ id, type, now }) => ({
      "user-agent": "Linear-Webhook",
      "linear-delivery": id,
      "linear-event": type,
      "linear-timestamp": String(now),
    }),
    content: {
      json: ({ type, now }) => {
        const number = integer(3);
        const url = `https://linear.app/acme-test/issue/ENG-${number}/sample-issue`;
        const team = { id: "5d0b1c7e-94f2-4e38-a6d1-7c3f0b82e915", key: "ENG", name: "Engineering" };
        const state = { id: "c81f5a3d-20e7-4b69-9d4a-e61b37f0a528", color: "#e2e2e2", name: "Todo", type: "unstarted" };
        const actor = {
          id: "91e6b4a0-3c5d-47f8-8b12-d04a69c7e3f5",
          name: "Test User",
          email: "user@example.com",
          url: "https://linear.app/acme-test/profiles/test",
          type: "user",
        };
        return {
          action: "create",
          actor,
          createdAt: iso(now),
          data: {
            id: randomUUID(),
            createdAt: iso(now),
            updatedAt: iso(now),
            number,
            title: "Sample issue",
            priority: 2,
            sortOrder: -412.5,
            labelIds: [],
            teamId: team.id,
            previousIdentifiers: [],
            creatorId: actor.id,
            stateId: state.id,
            priorityLabel: "High",
            subscriberIds: [actor.id],
            identifier: `ENG-${number}`,
            url,
            state,
            team,
            labels: [],
          },
          url,
          type,
          organizationId: "2b7d9f10-6e3a-4c84-b5f7-18a0d3e94c62",
          webhookTimestamp: now,
          webhookId: "f4a83c52-0d17-4be9-95c6-a27e1b60d384",
        };
      },
    },
  },
});
