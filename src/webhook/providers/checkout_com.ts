import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Checkout.com",
  docs: "https://www.checkout.com/docs/developer-resources/webhooks/manage-webhooks/set-up-your-webhook-receiver",
  schemes: hmacOfBody("cko-signature"),
  id: ["body:id"],
  type: ["body:type"],
  facts: says("https://www.checkout.com/docs/workflows", {
    repeats: "automatic",
    schedule: "after 5, 10, 15 and 30 minutes, and 1, 4, 12 and 12 hours",
    repeatsForSeconds: 30 * 3600,
  }),
});
