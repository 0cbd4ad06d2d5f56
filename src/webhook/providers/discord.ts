import { json, text } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

export default provider({
  title: "Discord",
  docs: "https://docs.discord.com/developers/events/webhook-events",
  schemes: keySignature("ed25519", "x-signature-ed25519", {
    encodings: ["hex"],
    timestamp: { header: "x-signature-timestamp" },
    signed: "{timestamp}{body}",
  }),
  id: ["body:id"],
  type: ["body:event.type", "body:type"],
  // A ping of events has the type 0. One of interactions has 1, as an event has; only the event has `event`.
  handshake: {
    kind: "discord",
    json: { type: 1 },
    statuses: [200, 204],
    delivery(content) {
      const type = content.member("type");
      if (type === 0) return text("", 204);
      return type === 1 && content.member("event") === undefined ? json({ type }) : null;
    },
  },
  acknowledgement: { status: 204, type: "text/plain", text: "" },
  refusedStatus: 401,
  facts: says("https://docs.discord.com/developers/events/webhook-events", {
    answer: "204 with an empty body",
    answerSeconds: 3,
    repeats: "automatic",
    schedule: "with growing delays",
    repeatsForSeconds: 600,
    disables: "removes the address if it does not refuse wrong signatures",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/hikari-py/hikari/blob/0ac3385921aabbd21ce691821d41996e9a5a255e/tests/hikari/impl/test_interaction_server.py",
  },
});
