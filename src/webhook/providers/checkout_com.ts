import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Checkout.com",
  docs: "https://www.checkout.com/docs/developer-resources/webhooks/manage-webhooks/set-up-your-webhook-receiver",
  schemes: hmacOfBody("cko-signature"),
  id: ["body:id"],
  type: ["body:type"],
});
