import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

export default provider({
  title: "Telnyx",
  docs: "https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks",
  schemes: keySignature("ed25519", "telnyx-signature-ed25519", {
    timestamp: { header: "telnyx-timestamp" },
    signed: "{timestamp}|{body}",
  }),
  id: ["body:data.id"],
  type: ["body:data.event_type"],
  facts: {
    ...says("https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks", {
      answer: "any 2xx",
      answerSeconds: 2,
      repeats: "automatic",
      schedule: "up to 3 attempts for each URL, then the failover URL",
    }),
    ...says("telnyx@7.24.0", { repeatChanges: ["body"] }),
  },
  evidence: { kind: "sdk", by: "telnyx@7.24.0" },
});
