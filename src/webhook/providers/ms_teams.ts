import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Microsoft Teams",
  docs: "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook",
  schemes: base64OfBody("authorization", { label: "HMAC ", key: "base64" }),
  id: ["body:id"],
  type: ["body:type"],
  // Without a message as the answer, the channel shows an error.
  acknowledgement: { type: "application/json", text: '{"type":"message","text":"Received."}' },
  facts: says(
    "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook",
    { answer: "a message as JSON", answerSeconds: 5 },
  ),
});
