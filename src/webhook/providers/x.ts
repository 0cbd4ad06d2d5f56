import { hmacOf, inQuery, json } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "X",
  docs: "https://docs.x.com/x-api/webhooks/quickstart",
  schemes: base64OfBody("x-twitter-webhooks-signature", { label: "sha256=" }),
  handshake: {
    kind: "x",
    json: { response_token: "text" },
    ...inQuery("crc_token", (token, { secret }) =>
      json({ response_token: `sha256=${hmacOf(token, secret, "base64")}` }),
    ),
    signs: { forAnybody: true },
  },
  facts: says("https://developer.x.com/en/docs/x-api/enterprise/account-activity-api/guides/activity-retries", {
    answer: "200",
    answerSeconds: 3,
    repeats: "automatic",
    schedule: "up to three times, on the enterprise tier",
    repeatsForSeconds: 300,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/twitterdev/autohook/blob/b872e8464f4f580cc71d85604fff810782c03627/test/signature.js",
  },
});
