import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

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
  handshake: "twitch",
  evidence: {
    kind: "published",
    by: "https://github.com/nicklaw5/helix/blob/3b942245c29a586cd1b8859dbf945190f5aaeba6/eventsub_test.go",
  },
});
