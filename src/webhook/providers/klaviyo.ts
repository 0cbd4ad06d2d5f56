import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

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
  facts: {
    ...says(
      "https://github.com/api-evangelist/klaviyo/blob/2ed7729f40aa23cac145e1e784890caf59205093/skills/klaviyo-subscribe-to-webhooks.md",
      {
        answer: "200, 201 or 202",
        answerSeconds: 5,
        repeats: "automatic",
        schedule: "ever later, at most an hour apart",
        repeatsForSeconds: 48 * 3600,
        disables: "after 48 hours of failures",
      },
    ),
    ...says("https://developers.klaviyo.com/en/docs/working_with_system_webhooks", { batches: true }),
  },
});
