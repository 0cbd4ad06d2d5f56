import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "TikTok",
  docs: "https://developers.tiktok.com/doc/webhooks-verification",
  schemes: timestampedPairs("tiktok-signature", { label: "s" }),
  type: ["body:event"],
  facts: says("https://developers.tiktok.com/doc/webhooks-overview/", {
    answer: "200",
    repeats: "automatic",
    schedule: "with an exponential backoff",
    repeatsForSeconds: 3 * 86_400,
  }),
});
