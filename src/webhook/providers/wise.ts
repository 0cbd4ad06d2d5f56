import { provider } from "../provider.ts";
import { keySignature } from "../signing.ts";

export default provider({
  title: "Wise",
  docs: "https://docs.wise.com/guides/developer/webhooks/event-handling",
  schemes: keySignature("rsa", "x-signature-sha256"),
  id: ["header:x-delivery-id"],
  type: ["body:event_type"],
  evidence: {
    kind: "published",
    by: "https://github.com/transferwise/digital-signatures-examples/blob/c29c3625cbf2afe571b045cea2fd1a5d99764f6b/verify-webhook-signature/verify-signature.js",
  },
});
