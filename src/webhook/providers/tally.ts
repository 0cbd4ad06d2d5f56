import { provider } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Tally",
  docs: "https://tally.so/help/webhooks",
  schemes: base64OfBody("tally-signature"),
  id: ["body:eventId"],
  type: ["body:eventType"],
});
