import { provider } from "../provider.ts";
import { base64OfBody } from "../signing.ts";

export default provider({
  title: "AfterShip",
  docs: "https://www.aftership.com/docs/tracking/webhook/webhook-signature",
  schemes: base64OfBody("aftership-hmac-sha256"),
  id: ["body:event_id"],
  type: ["body:event"],
});
