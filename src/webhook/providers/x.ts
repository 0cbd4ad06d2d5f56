import { provider } from "../provider.ts";
import { base64OfBody } from "../signing.ts";

export default provider({
  title: "X",
  docs: "https://docs.x.com/x-api/webhooks/quickstart",
  schemes: base64OfBody("x-twitter-webhooks-signature", { label: "sha256=" }),
  handshake: "x",
  evidence: {
    kind: "published",
    by: "https://github.com/twitterdev/autohook/blob/b872e8464f4f580cc71d85604fff810782c03627/test/signature.js",
  },
});
