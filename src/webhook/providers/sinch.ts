import { provider, says } from "../provider.ts";
import { hmacOfBody, timestamped } from "../signature/signing.ts";

export default provider({
  title: "Sinch",
  docs: "https://developers.sinch.com/docs/conversation/callbacks",
  schemes: [
    timestamped(
      "x-sinch-webhook-signature",
      { header: "x-sinch-webhook-signature-timestamp" },
      "{body}.{header:x-sinch-webhook-signature-nonce}.{timestamp}",
      { encodings: ["base64"] },
    ),
    // Of its Numbers API: https://developers.sinch.com/docs/numbers/api-reference/numbers/numbers-callbacks
    hmacOfBody("x-sinch-signature", { algorithm: "sha1" }),
  ],
  id: ["body:eventId"],
  type: ["body:eventType"],
  facts: says("https://developers.sinch.com/java-sdk/apidocs/com/sinch/sdk/domains/sms/WebHooksService.html", {
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "SMS: after 429 or 5xx, 5 seconds later and then at doubled intervals",
    repeatsForSeconds: 81_920,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/sinch/sinch-sdk-node/blob/affb35e5164993b316915bd780165d704e44689b/packages/sdk-client/tests/utils/authorization.helper.test.ts",
  },
});
