import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Merge",
  docs: "https://docs.merge.dev/basics/webhooks/overview/",
  schemes: hmacOfBody("x-merge-webhook-signature", { encodings: ["base64url"] }),
  type: ["body:hook.event"],
});
