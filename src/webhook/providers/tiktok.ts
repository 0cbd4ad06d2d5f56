import { provider } from "../provider.ts";
import { timestampedPairs } from "../signing.ts";

export default provider({
  title: "TikTok",
  docs: "https://developers.tiktok.com/doc/webhooks-verification",
  schemes: timestampedPairs("tiktok-signature", { label: "s" }),
  type: ["body:event"],
});
