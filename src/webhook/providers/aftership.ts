import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "AfterShip",
  docs: "https://www.aftership.com/docs/tracking/webhook/webhook-signature",
  // Tracking; returns and warranties; shipping.
  schemes: [
    base64OfBody({ headers: ["aftership-hmac-sha256", "as-signature-hmac-sha256"] }),
    base64OfBody("am-webhook-signature", { label: "hmac-sha256=" }),
  ],
  id: ["body:event_id"],
  type: ["body:event"],
  facts: says("https://www.aftership.com/docs/tracking/webhook/webhook-overview", {
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "13 times, first after 30 seconds, then twice as long each time",
    repeatsForSeconds: 245_730,
  }),
});
