import { provider } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Xero",
  docs: "https://developer.xero.com/documentation/guides/webhooks/overview/",
  schemes: base64OfBody("x-xero-signature"),
  type: ["body:events.0.eventType"],
  refusedStatus: 401,
  needsEmptyAnswers: true,
  evidence: {
    kind: "published",
    by: "https://github.com/webfox/laravel-xero-oauth2/blob/d474eb79a16804c4cac9eb1a0066630a2178e797/tests/Unit/WebhookTest.php",
  },
});
