import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Squarespace",
  docs: "https://developers.squarespace.com/commerce-apis/webhook-subscriptions-overview",
  schemes: hmacOfBody("squarespace-signature", { key: "hex" }),
  id: ["body:id"],
  type: ["body:topic"],
});
