import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Sinch",
  docs: "https://developers.sinch.com/docs/conversation/callbacks",
  schemes: timestamped(
    "x-sinch-webhook-signature",
    { header: "x-sinch-webhook-signature-timestamp" },
    "{body}.{header:x-sinch-webhook-signature-nonce}.{timestamp}",
    { encodings: ["base64"] },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/sinch/sinch-sdk-node/blob/affb35e5164993b316915bd780165d704e44689b/packages/sdk-client/tests/utils/authorization.helper.test.ts",
  },
});
