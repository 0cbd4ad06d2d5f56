import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Checkr",
  docs: "https://docs.checkr.com/#section/Webhooks/Validating-webhooks",
  schemes: hmacOfBody("x-checkr-signature"),
  id: ["body:id"],
  type: ["body:type"],
  evidence: {
    kind: "published",
    by: "https://github.com/checkr/webhook-verification-examples/blob/eea406d991bec43d6b77932d68f1825d444cc03e/verify_signature.js",
  },
});
