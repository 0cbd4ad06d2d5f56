import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Airship",
  docs: "https://support.airship.com/hc/en-us/articles/360032501831-Implementing-a-Signature-Hash-and-Validating-an-Open-Channel-Webhook",
  schemes: timestamped("x-ua-signature", { header: "x-ua-timestamp" }, "{timestamp}:{body}"),
});
