import { provider } from "../provider.ts";
import { base64OfBody } from "../signing.ts";

export default provider({
  title: "Flutterwave",
  docs: "https://developer.flutterwave.com/docs/webhooks",
  schemes: [base64OfBody("flutterwave-signature"), { type: "token", header: "verif-hash" }],
  covers: "part",
  id: ["body:webhook_id", "body:id"],
  type: ["body:type", "body:event"],
});
