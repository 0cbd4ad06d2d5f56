import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Airwallex",
  docs: "https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events",
  // The page shows milliseconds. Receivers are known that take seconds.
  schemes: (["ms", "s"] as const).map((unit) =>
    timestamped("x-signature", { header: "x-timestamp", unit }, "{timestamp}{body}"),
  ),
  id: ["body:id"],
  type: ["body:name"],
  facts: says("https://www.airwallex.com/docs/developer-tools/webhooks/webhooks-overview", {
    answer: "200",
    repeats: "automatic",
    schedule: "with growing delays",
    repeatsForSeconds: 3 * 86_400,
  }),
});
