import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "LINE",
  docs: "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
  schemes: base64OfBody("x-line-signature"),
  id: ["body:events.0.webhookEventId"],
  type: ["body:events.0.type"],
  facts: says("https://github.com/line/line-openapi/blob/6e4c2a2a1b7b059ea3920456d4f88d03fd8ef0bb/webhook.yml", {
    repeatChanges: ["body"],
    batches: true,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/line/line-bot-sdk-python/blob/e1fa9338a3230ef4912aa387778641a505cf7372/tests/test_webhook.py",
  },
});
