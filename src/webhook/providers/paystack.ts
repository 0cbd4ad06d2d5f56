import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Paystack",
  docs: "https://paystack.com/docs/payments/webhooks/",
  schemes: hmacOfBody("x-paystack-signature", { algorithm: "sha512" }),
  type: ["body:event"],
  evidence: {
    kind: "published",
    by: "https://github.com/yabacon/paystack-php/blob/8097917f304bc40a3eaa5c3eb25c292331f85083/tests/Mock/EventTestDouble.php",
  },
});
