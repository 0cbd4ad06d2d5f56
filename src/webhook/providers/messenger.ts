import { base62 } from "../provider/sample.ts";
import { type Provider, says } from "../provider.ts";
import meta from "./meta.ts";

export default {
  ...meta,
  title: "Messenger (Meta)",
  aliasOf: "meta",
  docs: "https://developers.facebook.com/docs/messenger-platform/webhook",
  type: ["body:object"],
  facts: says("https://developers.facebook.com/docs/messenger-platform/faq", {
    answer: "200",
    answerSeconds: 20,
    repeats: "automatic",
    disables: "after failures for a longer time",
  }),
  sample: {
    type: "page",
    content: {
      json: ({ type, now }) => ({
        object: type,
        entry: [
          {
            id: "104839275016482",
            time: now,
            messaging: [
              {
                sender: { id: "6728190354817264" },
                recipient: { id: "104839275016482" },
                timestamp: now - 500,
                message: { mid: `m_${base62(64)}`, text: "Is my order on its way?" },
              },
            ],
          },
        ],
      }),
    },
  },
} satisfies Provider;
