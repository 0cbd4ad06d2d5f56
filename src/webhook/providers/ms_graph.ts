import { PRINTABLE, text, withChallenge } from "../provider/handshake.ts";
import { base62, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

const TOKEN = "validationToken";

export default provider({
  title: "Microsoft Graph",
  docs: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
  schemes: { type: "token", each: "value", json: "clientState" },
  covers: "none",
  type: ["body:value.0.changeType", "body:value.0.lifecycleEvent"],
  dedupe: {
    mode: "off",
    why: "Each notification of a drive has the same bytes, and no id.",
    source: "https://learn.microsoft.com/en-us/graph/api/resources/changenotification",
  },
  handshake: {
    kind: "ms_graph",
    validation: {
      asks: ({ query }) => query.has(TOKEN),
      query: { [TOKEN]: "text?" },
      answer: ({ query }) => withChallenge(query.get(TOKEN), TOKEN, text, PRINTABLE),
    },
  },
  facts: {
    ...says("https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks", {
      batches: true,
      answer: "any 2xx",
      answerSeconds: 3,
      repeats: "automatic",
      repeatsForSeconds: 4 * 3600,
      disables: "slows down when 10 % of the answers take more than 2.9 seconds",
    }),
    ...says("https://learn.microsoft.com/en-us/graph/api/resources/changenotification", { sameBytes: true }),
  },
  sample: {
    type: "updated",
    content: {
      json: ({ type, now }) => ({
        value: [
          {
            subscriptionId: "f4a83c52-0d17-4be9-95c6-a27e1b60d384",
            subscriptionExpirationDateTime: iso(now + 3_600_000),
            changeType: type,
            clientState: "",
            resource: `Users/2b7d9f10/Messages/${base62(32)}`,
            tenantId: "84bd8158-6d4d-4958-8b9f-9d6445542f95",
          },
        ],
      }),
    },
  },
});
