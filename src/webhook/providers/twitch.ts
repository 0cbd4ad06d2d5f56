import { inMember, text } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Twitch",
  docs: "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
  schemes: timestamped(
    "twitch-eventsub-message-signature",
    { header: "twitch-eventsub-message-timestamp", unit: "iso" },
    "{header:twitch-eventsub-message-id}{timestamp}{body}",
    { label: "sha256=", toleranceSeconds: 600 },
  ),
  id: ["header:twitch-eventsub-message-id"],
  type: ["body:subscription.type"],
  // The header with the type of the message is not signed, so the body decides.
  handshake: {
    kind: "twitch",
    delivery: (content) =>
      content.member("subscription.status") === "webhook_callback_verification_pending"
        ? inMember(content, "challenge", text)
        : null,
  },
  facts: {
    ...says("https://dev.twitch.tv/docs/eventsub/handling-webhook-events", {
      answer: "any 2xx",
      disables: "after too many answers that took longer than a few seconds",
    }),
    ...says("https://dev.twitch.tv/docs/eventsub/", { repeats: "automatic" }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/nicklaw5/helix/blob/3b942245c29a586cd1b8859dbf945190f5aaeba6/eventsub_test.go",
  },
});
