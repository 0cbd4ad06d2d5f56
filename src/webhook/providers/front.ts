import { text, withChallenge } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody, timestamped } from "../signature/signing.ts";

export default provider({
  title: "Front",
  docs: "https://dev.frontapp.com/docs/application-webhooks",
  schemes: [
    timestamped("x-front-signature", { header: "x-front-request-timestamp", unit: "ms" }, "{timestamp}:{body}", {
      encodings: ["base64"],
    }),
    // Of a rule, with the API secret: https://dev.frontapp.com/docs/rule-webhooks
    base64OfBody("x-front-signature", { algorithm: "sha1" }),
  ],
  type: ["body:type"],
  // A signed `sync` with a challenge in a header, when the URL is saved: the page above.
  handshake: {
    kind: "front",
    delivery(content, { headers }) {
      const header = "x-front-challenge";
      if (content.member("type") !== "sync" || headers[header] === undefined) return null;
      return withChallenge(headers[header], header, text);
    },
  },
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    {
      repeats: "automatic",
      schedule: "3 times, after a 408, 429, 500 or no answer; never by a rule",
      disables: "when the repeats fail, too",
    },
  ),
});
