import { FORM, MULTIPART } from "../content/content.ts";
import { hex, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Dropbox Sign",
  docs: "https://developers.hellosign.com/docs/events/walkthrough/",
  // The key of the API signs time and type alone. It repeats a delivery for three days.
  schemes: hmacOfBody(
    { json: "event.event_hash" },
    {
      timestamp: { json: "event.event_time" },
      signed: "{timestamp}{json:event.event_type}",
      toleranceSeconds: 4 * 86_400,
    },
  ),
  covers: "part",
  type: ["body:event.event_type"],
  contentTypes: [MULTIPART, FORM, "application/json"],
  acknowledgement: { type: "text/plain", text: "Hello API Event Received" },
  facts: says("https://developers.hellosign.com/api/manual-reference-pages/glossary/callbacks-events", {
    answer: "200 with exactly the text Hello API Event Received",
    repeats: "automatic",
    schedule: "at growing intervals",
    repeatsForSeconds: 3 * 86_400,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/hellosign/hellosign-openapi/blob/ad21451f222d4f21245d992b4e959f8d5100e3f9/test_fixtures/EventCallbackHelper_AccountCallbacks.json",
  },
  sample: {
    type: "signature_request_sent",
    content: {
      multipart: ({ type, now }) => {
        const account = hex(36);
        const event = {
          event_type: type,
          event_time: String(seconds(now)),
          event_hash: "",
          event_metadata: {
            related_signature_id: null,
            reported_for_account_id: account,
            reported_for_app_id: null,
          },
        };
        const request = {
          signature_request_id: hex(40),
          test_mode: true,
          title: "Order 1042",
          is_complete: false,
          is_declined: false,
          has_error: false,
        };
        return { json: JSON.stringify({ event, account_guid: account, signature_request: request }) };
      },
    },
  },
});
