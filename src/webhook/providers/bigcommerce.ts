import { hex, integer, messageId, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "BigCommerce",
  docs: "https://developer.bigcommerce.com/docs/integrations/webhooks/https-webhook-overview",
  // The secret is the client secret of the API account. It is not decoded: the key is the text.
  schemes: standardWebhooks("webhook", { key: "utf8" }),
  id: ["header:webhook-id"],
  type: ["body:scope"],
  needsEmptyAnswers: true,
  facts: says(
    "https://github.com/bigcommerce/docs/blob/24f580ca6d2981728b7ed70a2049e00fc602c335/docs/integrations/webhooks/overview.mdx",
    {
      answer: "200",
      repeats: "automatic",
      schedule: "after 1, 3, 5, 10, 15 and 30 minutes and 1, 2, 6, 14 and 24 hours",
      repeatsForSeconds: 173_040,
      disables: "after the last attempt, and after 90 days without events",
    },
  ),
  evidence: { kind: "sdk", by: "standardwebhooks@1.1.1" },
  sample: {
    type: "store/order/statusUpdated",
    newId: messageId,
    headers: ({ id }) => ({ "webhook-id": id }),
    content: {
      json: ({ type, now }) => ({
        scope: type,
        store_id: "1048392",
        data: { type: "order", id: integer(6), status: { previous_status_id: 0, new_status_id: 11 } },
        hash: hex(40),
        created_at: seconds(now),
        producer: "stores/q7xk2m9dpt",
      }),
    },
  },
});
