import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "GoCardless",
  docs: "https://developer.gocardless.com/getting-started/stay-up-to-date-with-webhooks-v2/",
  schemes: hmacOfBody("webhook-signature"),
  id: ["body:meta.webhook_id"],
  type: ["body:events.0.resource_type"],
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/ffee06efc9478e701f1df77e5b691325f57468c7/skills/gocardless-webhooks/references/overview.md",
    { batches: true, answer: "any 2xx", repeats: "automatic" },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/gocardless/gocardless-pro-ruby/blob/93c45cb20cbfb160cc3680174c5dfbb4dbd80f9e/spec/webhook_spec.rb",
  },
});
