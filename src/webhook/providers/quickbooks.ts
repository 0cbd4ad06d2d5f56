import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "QuickBooks",
  docs: "https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks",
  schemes: base64OfBody("intuit-signature"),
  // A list of CloudEvents, and the form before it.
  type: ["body:0.type", "body:eventNotifications.0.dataChangeEvent.entities.0.name"],
  facts: {
    ...says("https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks/best-practices", {
      answer: "200",
      answerSeconds: 3,
      repeats: "automatic",
      schedule: "after 10, 20 and 30 seconds, 5 and 20 minutes, 2, 4 and 6 hours, then every 6 hours",
    }),
    ...says(
      "https://github.com/api-evangelist/quickbooks/blob/e2daa9395aa8fdc06b8461ce5001aca67c3f13d5/asyncapi/quickbooks-online-webhooks-asyncapi.yml",
      { batches: true },
    ),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/intuit/QuickBooks-V3-Java-SDK/blob/79b5a3c125b2c1c4828f89142039789b61b47ea4/ipp-v3-java-devkit/src/test/java/com/intuit/ipp/services/WebhooksServiceTest.java",
  },
});
