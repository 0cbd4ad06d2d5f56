import { provider } from "../provider.ts";
import { base64OfBody } from "../signing.ts";

export default provider({
  title: "Ably",
  docs: "https://ably.com/docs/platform/integrations/webhooks",
  schemes: base64OfBody("x-ably-signature"),
});
