import { createHmac, hash } from "node:crypto";
import { FORM } from "../content/content.ts";
import { inQuery, text } from "../provider/handshake.ts";
import { base62, isoSeconds, type SampleEvent } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

const paymentXml = ({ type, now }: SampleEvent) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<notification>
  <timestamp type="datetime">${isoSeconds(now)}Z</timestamp>
  <kind>${type.replace(/[<&]/g, (sign) => (sign === "<" ? "&lt;" : "&amp;"))}</kind>
  <source-merchant-id>acme_sandbox</source-merchant-id>
  <subject>
    <subscription>
      <id>${base62(6).toLowerCase()}</id>
      <plan-id>pro-monthly</plan-id>
      <status>Active</status>
      <price>19.00</price>
      <number-of-billing-cycles nil="true"/>
    </subscription>
  </subject>
</notification>
`;

// What it signs for anybody who asks. So it is no payload of a delivery.
const CHALLENGE = /^[a-f0-9]{20,32}$/;

const macOf = (challenge: string, secret: string) =>
  createHmac("sha1", hash("sha1", secret, "buffer"))
    .update(challenge)
    .digest("hex");

export default provider({
  title: "Braintree",
  docs: "https://developer.paypal.com/braintree/docs/guides/webhooks/parse",
  // Pairs of a public key and a signature. Some of Braintree's libraries sign the line end that follows the payload.
  schemes: ["{form:bt_payload}", "{form:bt_payload}\n"].map((signed) =>
    hmacOfBody(
      { form: "bt_signature" },
      { format: "pairs", separator: "&", assignment: "|", algorithm: "sha1", signed, key: "sha1", isIdentity: true },
    ),
  ),
  // `GET ?bt_challenge=`, which wants the public key and an HMAC of it:
  // https://developers.braintreepayments.com/ios+php/guides/webhooks/create
  handshake: {
    kind: "braintree",
    hasToken: true,
    publicToken: "the public key of Braintree",
    ...inQuery(
      "bt_challenge",
      (challenge, { secret, token }) => text(`${token}|${macOf(challenge, secret)}`),
      CHALLENGE,
    ),
    signs: {
      forAnybody: true,
      challengeIn: (content) => (CHALLENGE.test(content.form().get("bt_payload") ?? "") ? "bt_payload" : undefined),
    },
  },
  keyName: "the public key",
  covers: "part",
  contentTypes: [FORM],
  facts: says("https://developer.paypal.com/braintree/docs/guides/webhooks/parse", {
    answer: "any 2xx",
    answerSeconds: 30,
    repeats: "automatic",
    schedule: "every hour",
    repeatsForSeconds: 86_400,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/lionelbarrow/braintree-go/blob/2e3e383fa808c85430ed8db5bd87112932a9bb3f/hmac_test.go",
  },
  sample: {
    type: "subscription_charged_successfully",
    content: {
      form: (event) => ({
        bt_signature: "",
        bt_payload: `${Buffer.from(paymentXml(event)).toString("base64")}\n`,
      }),
    },
  },
});
