import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Bolt",
  docs: "https://help.bolt.com/developers/guides/webhooks/hook-verification/",
  // During a rotation the second header has the signature with the new secret.
  schemes: base64OfBody({ headers: ["x-bolt-hmac-sha256", "x-bolt-hmac-sha256-pending"] }),
  // The id in its body is that of the transaction, which authorization, capture, credit and void share.
  type: ["body:type"],
  facts: says("https://help.bolt.com/developers/webhooks", {
    answer: "200 with a body in JSON",
    repeats: "automatic",
    schedule: "with growing delays",
  }),
});
