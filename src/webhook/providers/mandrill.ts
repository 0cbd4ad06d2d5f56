import { FORM } from "../content/content.ts";
import { isThere } from "../provider/handshake.ts";
import { hex, seconds } from "../provider/sample.ts";
import { provider } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";
import { SORTED_FORM } from "../signature/sorted-form.ts";

export default provider({
  title: "Mailchimp Transactional (Mandrill)",
  docs: "https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/",
  schemes: base64OfBody("x-mandrill-signature", {
    algorithm: "sha1",
    signed: "{url}{own:form}",
    parts: { form: SORTED_FORM },
    isIdentity: true,
  }),
  contentTypes: [FORM],
  // HEAD, else a delivery without events that is signed with the key `test-webhook`:
  // https://mandrill.zendesk.com/hc/en-us/articles/360038740014-Why-can-t-my-webhook-or-inbound-route-URL-be-verified
  handshake: {
    kind: "mandrill",
    head: isThere,
    delivery: (content) => (String(content.form()) === "mandrill_events=%5B%5D" ? isThere() : null),
    testKey: "test-webhook",
  },
  evidence: {
    kind: "published",
    by: "https://github.com/evendis/mandrill-rails/blob/eb89d7c9a57b144ef0c5d0b049b6dd89cf2b0dee/spec/fixtures/webhook_examples/click_with_signature.json",
  },
  sample: {
    type: "send",
    headers: () => ({ "user-agent": "Mandrill-Webhook/1.0" }),
    content: {
      form: ({ type, now }) => {
        const _id = hex(32);
        const msg = {
          ts: seconds(now - 1000),
          _id,
          state: "sent",
          subject: "Your receipt",
          email: "customer@example.com",
          sender: "billing@example.com",
          tags: ["receipt"],
          opens: [],
          clicks: [],
          smtp_events: [],
          resends: [],
          metadata: { order_id: "1042" },
          template: null,
        };
        return { mandrill_events: JSON.stringify([{ event: type, _id, msg, ts: seconds(now) }]) };
      },
    },
  },
});
