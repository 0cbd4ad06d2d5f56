import { json } from "../provider/handshake.ts";
import { provider } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Airship",
  docs: "https://support.airship.com/hc/en-us/articles/360032501831-Implementing-a-Signature-Hash-and-Validating-an-Open-Channel-Webhook",
  schemes: timestamped("x-ua-signature", { header: "x-ua-timestamp" }, "{timestamp}:{body}"),
  // It compresses the body, and signs its text; the same page has the media type.
  encoding: ["gzip"],
  contentTypes: ["application/vnd.urbanairship+json", "application/json"],
  // A signed GET, which is answered with the code of the dashboard: https://docs.airship.com/platform/open/getting-started/
  handshake: {
    kind: "airship",
    hasToken: true,
    signsRequests: true,
    refusal: "signature_mismatch",
    json: { confirmation_code: "text" },
    get: ({ token = "" }) => json({ confirmation_code: token }),
  },
  subPaths: { deliveries: "/push", check: "/validate" },
});
