import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Authorize.net",
  docs: "https://developer.authorize.net/api/reference/features/webhooks.html",
  // The page does not say how the signature key becomes bytes. A published delivery has it as text; some receivers
  // decode it.
  schemes: [
    hmacOfBody("x-anet-signature", { label: "sha512=", algorithm: "sha512" }),
    hmacOfBody("x-anet-signature", { label: "sha512=", algorithm: "sha512", key: "hex" }),
  ],
  id: ["body:notificationId"],
  type: ["body:eventType"],
  evidence: {
    kind: "published",
    by: "https://github.com/stymiee/authnetjson/blob/17546b05ef98be07cb2e32a16a578ac0b9dd47cf/tests/Authnetjson/AuthnetWebhookTest.php",
  },
});
