import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Ably",
  docs: "https://ably.com/docs/platform/integrations/webhooks",
  schemes: base64OfBody("x-ably-signature"),
  // Of a batch; of one event with an envelope; of one without.
  type: ["body:items.0.name", "body:source", "header:x-ably-envelope-source"],
  contentTypes: ["application/json", "application/x-msgpack"],
  facts: says("https://ably.com/docs/platform/integrations/webhooks", {
    repeatChanges: ["body"],
    batches: true,
    repeats: "automatic",
    schedule: "after 1.4 seconds, then with delays that grow to 60 seconds",
    repeatsForSeconds: 300,
  }),
});
