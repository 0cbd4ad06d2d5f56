import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";

export default provider({
  title: "Postmark",
  docs: "https://postmarkapp.com/developer/webhooks/webhooks-overview",
  schemes: { type: "basic" },
  covers: "none",
  type: ["body:RecordType"],
  facts: says("https://postmarkapp.com/support/article/understanding-inbound-webhook-retries-in-postmark", {
    answer: "200; 403 stops the repeats",
    repeats: "automatic",
    schedule: "after 1 and 5 minutes, three times 10, 15 and 30 minutes, 1, 2 and 6 hours",
    repeatsForSeconds: 37_860,
  }),
});
