import { base62, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Anthropic",
  docs: "https://platform.claude.com/docs/en/managed-agents/webhooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  // In its events, `type` is always "event".
  type: ["body:data.type"],
  facts: says(
    "https://github.com/anthropics/skills/blob/9d2f1ae187231d8199c64b5b762e1bdf2244733d/skills/claude-api/shared/managed-agents-webhooks.md",
    {
      answer: "2xx",
      repeats: "automatic",
      disables: "after about 20 failures in a row; at once for a redirect or a private address",
    },
  ),
  evidence: { kind: "sdk", by: "@anthropic-ai/sdk@1.14.0" },
  sample: {
    type: "session.status_idled",
    newId: () => `event_${base62(24)}`,
    headers: ({ id }) => ({ "webhook-id": id }),
    content: {
      json: ({ id, type, now }) => ({
        type: "event",
        id,
        created_at: iso(now),
        data: {
          type,
          id: `sesn_${base62(24)}`,
          organization_id: "84bd8158-6d4d-4958-8b9f-9d6445542f95",
          workspace_id: "wrkspc_01Jq8ZtW3vKxN5mRc7Yb2HdE",
        },
      }),
    },
  },
});
