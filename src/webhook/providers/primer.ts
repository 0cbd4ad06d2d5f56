import { provider } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Primer",
  docs: "https://primer.io/docs/api-reference/get-started/configure-webhooks",
  // The second header is there for 24 hours after a rotation.
  schemes: base64OfBody({ headers: ["x-signature-primary", "x-signature-secondary"] }),
  type: ["body:eventType"],
});
