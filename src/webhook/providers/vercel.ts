import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Vercel",
  docs: "https://vercel.com/docs/webhooks/webhooks-api",
  schemes: hmacOfBody("x-vercel-signature", { algorithm: "sha1" }),
  id: ["body:id"],
  // A log drain sends lists of entries, as JSON or as JSON Lines.
  type: ["body:type", "body:0.source"],
  contentTypes: ["application/json", "application/x-ndjson", "application/ndjson"],
  facts: says("https://vercel.com/docs/log-drains/log-drains-reference", { batches: true }),
});
