import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Sendbird",
  docs: "https://sendbird.com/docs/chat/platform-api/v3/webhook/webhook-overview",
  schemes: hmacOfBody("x-sendbird-signature"),
  type: ["body:category"],
});
