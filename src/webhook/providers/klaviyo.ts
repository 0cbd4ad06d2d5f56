import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Klaviyo",
  docs: "https://developers.klaviyo.com/en/docs/working_with_system_webhooks",
  // The page shows a date. Receivers are known that take seconds. Its clock is hours off: it writes a local time as GMT
  // (https://github.com/nickdnk/klaviyo-php-sdk).
  schemes: (["http", "iso", "s"] as const).map((unit) =>
    timestamped("klaviyo-signature", { header: "klaviyo-timestamp", unit }, "{body}{timestamp}", {
      toleranceSeconds: 86_400,
    }),
  ),
  type: ["body:data.0.topic"],
  facts: says("https://developers.klaviyo.com/en/docs/working_with_system_webhooks", { batches: true }),
});
