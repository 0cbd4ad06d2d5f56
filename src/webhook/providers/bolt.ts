import { provider } from "../provider.ts";
import { base64OfBody } from "../signing.ts";

export default provider({
  title: "Bolt",
  docs: "https://help.bolt.com/developers/guides/webhooks/hook-verification/",
  schemes: base64OfBody("x-bolt-hmac-sha256"),
});
