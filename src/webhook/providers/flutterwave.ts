import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Flutterwave",
  docs: "https://developer.flutterwave.com/docs/webhooks",
  schemes: [base64OfBody("flutterwave-signature"), { type: "token", header: "verif-hash" }],
  covers: "part",
  id: ["body:webhook_id", "body:id"],
  type: ["body:type", "body:event"],
  facts: says(
    "https://github.com/api-evangelist/flutterwave/blob/ae622109c05d24a1e04d888783fcdea06cb14fae/asyncapi.yml",
    { answer: "200", repeats: "automatic" },
  ),
});
