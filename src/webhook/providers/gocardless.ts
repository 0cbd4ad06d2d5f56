import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "GoCardless",
  docs: "https://developer.gocardless.com/getting-started/stay-up-to-date-with-webhooks-v2/",
  schemes: hmacOfBody("webhook-signature"),
  id: ["body:meta.webhook_id"],
  type: ["body:events.0.resource_type"],
  evidence: {
    kind: "published",
    by: "https://github.com/gocardless/gocardless-pro-ruby/blob/93c45cb20cbfb160cc3680174c5dfbb4dbd80f9e/spec/webhook_spec.rb",
  },
});
