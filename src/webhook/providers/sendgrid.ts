import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

export default provider({
  title: "Twilio SendGrid",
  docs: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
  schemes: keySignature("ecdsa", "x-twilio-email-event-webhook-signature", {
    timestamp: { header: "x-twilio-email-event-webhook-timestamp" },
    signed: "{timestamp}{body}",
  }),
  // A batch has the ids of its events, and none of its own.
  type: ["body:0.event"],
  facts: says("https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event", { batches: true }),
  evidence: {
    kind: "published",
    by: "https://github.com/sendgrid/sendgrid-nodejs/blob/498e2329e87d804d83f4a7b519d33fa09198d0ca/packages/eventwebhook/src/eventwebhook.spec.js",
  },
});
