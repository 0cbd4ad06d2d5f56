import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "ConfigCat",
  docs: "https://configcat.com/docs/advanced/notifications-webhooks/",
  schemes: base64OfBody("x-configcat-webhook-signature-v1", {
    format: "values",
    timestamp: { header: "x-configcat-webhook-timestamp" },
    signed: "{header:x-configcat-webhook-id}{timestamp}{body}",
  }),
  // It signs the id, which each request has anew. The receiver writes the body, which may be the same for each change.
  id: ["header:x-configcat-webhook-id"],
  facts: says("https://configcat.com/docs/advanced/notifications-webhooks/", {
    sameBytes: true,
    repeatChanges: ["id", "time"],
    rotation: "both signatures in the header, with a comma between them",
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "up to 5 times",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/configcat/docs/blob/de3b72469862556f4444837c735b2f937b2bcdb5/website/docs/advanced/notifications-webhooks.mdx",
  },
});
