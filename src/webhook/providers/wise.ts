import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

export default provider({
  title: "Wise",
  docs: "https://docs.wise.com/guides/developer/webhooks/event-handling",
  schemes: keySignature("rsa", "x-signature-sha256"),
  // X-Delivery-Id is that of an attempt: a repeat has another.
  // https://github.com/api-evangelist/wise/blob/3c9126afed17466f8c660e1b6820dc7985704ce3/openapi/_original/wise-platform-openapi.yml
  type: ["body:event_type"],
  facts: {
    ...says("https://docs.wise.com/webhooks-notifications", { answer: "200" }),
    ...says(
      "https://github.com/transferwise/api-docs/blob/4f9a383423603327841c160a38d181675694e421/source/includes/reference/_webhook_events.md",
      {
        answerSeconds: 5,
        repeats: "automatic",
        schedule: "at most 25 times, at increasing intervals",
        repeatsForSeconds: 14 * 86_400,
      },
    ),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/transferwise/digital-signatures-examples/blob/c29c3625cbf2afe571b045cea2fd1a5d99764f6b/verify-webhook-signature/verify-signature.js",
  },
});
