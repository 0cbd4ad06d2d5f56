import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Paystack",
  docs: "https://paystack.com/docs/payments/webhooks/",
  schemes: hmacOfBody("x-paystack-signature", { algorithm: "sha512" }),
  type: ["body:event"],
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    {
      answer: "200",
      answerSeconds: 30,
      repeats: "automatic",
      schedule: "4 times every 3 minutes, then every hour for 72 hours; of test events every hour for 10 hours",
      repeatsForSeconds: 72 * 3600,
    },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/yabacon/paystack-php/blob/8097917f304bc40a3eaa5c3eb25c292331f85083/tests/Mock/EventTestDouble.php",
  },
});
