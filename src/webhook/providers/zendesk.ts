import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Zendesk",
  docs: "https://developer.zendesk.com/documentation/webhooks/verifying/",
  schemes: timestamped(
    "x-zendesk-webhook-signature",
    { header: "x-zendesk-webhook-signature-timestamp", unit: "iso" },
    "{timestamp}{body}",
    { encodings: ["base64"] },
  ),
  // The body of a trigger is what somebody wrote: its id may be that of a ticket. Attempts share the id of their
  // invocation.
  id: ["header:x-zendesk-webhook-invocation-id", "body:id"],
  type: ["body:type"],
  contentTypes: ["application/json", "application/xml", "text/xml"],
  dedupe: {
    mode: "id",
    why: "The body of a trigger may be the same each time it fires. Each firing has an invocation id.",
    source: "https://developer.zendesk.com/documentation/webhooks/anatomy-of-a-webhook-request",
  },
  facts: says("https://developer.zendesk.com/documentation/webhooks/anatomy-of-a-webhook-request", { sameBytes: true }),
});
