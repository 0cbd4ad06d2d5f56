import { randomUUID } from "node:crypto";
import { integer, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Box",
  docs: "https://developer.box.com/guides/webhooks/v2/signatures-v2",
  schemes: timestamped(
    { headers: ["box-signature-primary", "box-signature-secondary"] },
    { header: "box-delivery-timestamp", unit: "iso" },
    "{body}{timestamp}",
    {
      encodings: ["base64"],
      toleranceSeconds: 600,
    },
  ),
  id: ["body:id"],
  type: ["body:trigger"],
  facts: {
    ...says("https://developer.box.com/guides/webhooks/v2/", {
      repeatChanges: ["time"],
      rotation: "the signatures of the primary and the secondary key, each in its header",
      answer: "any 2xx",
      answerSeconds: 30,
      repeats: "automatic",
      schedule: "up to 12 times",
      repeatsForSeconds: 2 * 3600,
    }),
    ...says("https://developer.box.com/guides/webhooks/v2/limitations-v2", {
      disables:
        "deletes the webhook if no delivery of 30 days arrived, and one was tried 14 days after the last that did",
    }),
  },
  sample: {
    type: "FILE.UPLOADED",
    newId: randomUUID,
    headers: () => ({
      "box-delivery-id": randomUUID(),
      "box-signature-version": "1",
      "box-signature-algorithm": "HmacSHA256",
    }),
    content: {
      json: ({ id, type, now }) => ({
        type: "webhook_event",
        id,
        created_at: `${isoSeconds(now)}-00:00`,
        trigger: type,
        webhook: { id: String(integer(9)), type: "webhook" },
        created_by: { id: String(integer(9)), type: "user", name: "Ada", login: "ada@example.com" },
        source: { id: String(integer(11)), type: "file", name: "report.pdf", size: 4200 },
        additional_info: [],
      }),
    },
  },
  evidence: {
    kind: "published",
    by: "https://github.com/box/box-node-sdk/blob/7dcf9c2bfc44d9436d73c253ce2c9805a41d0e75/tests/lib/managers/webhooks-test.js",
  },
});
