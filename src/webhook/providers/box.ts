import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

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
  evidence: {
    kind: "published",
    by: "https://github.com/box/box-node-sdk/blob/7dcf9c2bfc44d9436d73c253ce2c9805a41d0e75/tests/lib/managers/webhooks-test.js",
  },
});
