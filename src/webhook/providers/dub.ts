import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Dub",
  docs: "https://dub.co/docs/concepts/webhooks/verify-webhook-requests",
  schemes: hmacOfBody("dub-signature"),
  id: ["body:id"],
  type: ["body:event"],
  facts: {
    ...says(
      "https://github.com/dubinc/dub/blob/1de955f782a72e1eff7b201ae54a909d5ceb5722/apps/web/lib/webhook/constants.ts",
      { disables: "after 20 failures in a row" },
    ),
    ...says(
      "https://github.com/dubinc/docs/blob/dd9543a7c58a63289e395b8a73ec6d6fca74be19/docs/webhooks/introduction.mdx",
      {
        answer: "any 2xx",
        repeats: "automatic",
        schedule: "after 12 and 148 seconds, 30 minutes, 6 and 24 hours, then every 24 hours until it arrives",
      },
    ),
  },
});
