import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Dub",
  docs: "https://dub.co/docs/concepts/webhooks/verify-webhook-requests",
  schemes: hmacOfBody("dub-signature"),
  id: ["body:id"],
  type: ["body:event"],
});
