import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Bird",
  docs: "https://docs.bird.com/api/notifications-api/api-reference/webhook-subscriptions/verifying-a-webhook-subscription",
  schemes: timestamped(
    "messagebird-signature",
    { header: "messagebird-request-timestamp" },
    "{timestamp}\n{url}\n{body-sha256}",
    // Its repeats keep the first time, for a day (https://docs.bird.com/api/notifications-api/retries).
    { encodings: ["base64"], toleranceSeconds: 86_400 },
  ),
});
