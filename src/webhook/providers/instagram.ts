import { integer, seconds } from "../provider/sample.ts";
import { type Provider, says } from "../provider.ts";
import meta from "./meta.ts";

export default {
  ...meta,
  title: "Instagram (Meta)",
  aliasOf: "meta",
  docs: "https://developers.facebook.com/docs/instagram-platform/webhooks",
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    {
      batches: true,
      repeats: "automatic",
      schedule: "at once, then less and less often, for 36 hours",
      repeatsForSeconds: 36 * 3600,
    },
  ),
  sample: {
    type: "comments",
    content: {
      json: ({ type, now }) => ({
        object: "instagram",
        entry: [
          {
            id: "17841405309211844",
            time: seconds(now),
            changes: [
              {
                field: type,
                value: {
                  id: `1789${integer(13)}`,
                  from: { id: "6728190354817264", username: "test_user" },
                  media: { id: `1802${integer(13)}`, media_product_type: "FEED" },
                  text: "Is it in stock?",
                },
              },
            ],
          },
        ],
      }),
    },
  },
} satisfies Provider;
