import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Dwolla",
  docs: "https://developers.dwolla.com/docs/balance/webhooks/process-validate",
  schemes: hmacOfBody("x-request-signature-sha-256"),
  id: ["body:id"],
  type: ["body:topic"],
});
