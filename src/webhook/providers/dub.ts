import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Dub",
  docs: "https://dub.co/docs/concepts/webhooks/verify-webhook-requests",
  schemes: hmacOfBody("dub-signature"),
  id: ["body:id"],
  type: ["body:event"],
  facts: says(
    "https://github.com/dubinc/dub/blob/1de955f782a72e1eff7b201ae54a909d5ceb5722/apps/web/lib/webhook/constants.ts",
    { disables: "after 20 failures in a row" },
  ),
});
