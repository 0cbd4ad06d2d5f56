import { provider } from "../provider.ts";
import { keySignature } from "../signing.ts";

export default provider({
  title: "Telnyx",
  docs: "https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks",
  schemes: keySignature("ed25519", "telnyx-signature-ed25519", {
    timestamp: { header: "telnyx-timestamp" },
    signed: "{timestamp}|{body}",
  }),
  id: ["body:data.id"],
  type: ["body:data.event_type"],
  evidence: { kind: "sdk", by: "telnyx@7.24.0" },
});
