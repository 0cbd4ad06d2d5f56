import { provider, says } from "../provider.ts";
import type { OwnFormat } from "../signature/signed-text.ts";
import { hmacOfBody, standardWebhooks } from "../signature/signing.ts";

/**
 * A template that its page shows: `t=TIME,v0=SIGNATURE`. While a secret is being rotated there is a second signature,
 * which has no name.
 */
const WITH_TIME: OwnFormat = {
  read: (value) => {
    const [time = "", ...items] = value.split(",");
    if (!time.startsWith("t=")) return [];
    return [{ timestamp: time.slice(2), signatures: items.map((item) => item.replace(/^v0=/, "")) }];
  },
  write: (signature, { timestamp }) => `t=${timestamp},v0=${signature}`,
};

export default provider({
  title: "Hookdeck Outpost",
  docs: "https://outpost.hookdeck.com/docs/",
  schemes: [
    hmacOfBody("x-outpost-signature", { format: "values", label: "v0=" }),
    hmacOfBody("x-outpost-signature", { format: WITH_TIME, timestamp: { own: true }, signed: "{timestamp}.{body}" }),
    // The operator chooses between its own headers and these.
    standardWebhooks("webhook"),
  ],
  id: ["header:webhook-id", "header:x-outpost-event-id"],
  type: ["header:x-outpost-topic", "header:webhook-topic"],
  dedupe: {
    mode: "id",
    why: "The body is the event's data alone, which may be the same in two events. A repeat keeps its event id.",
    source:
      "https://github.com/hookdeck/outpost/blob/f67ae011b287ff2588cb06699d808a69bba6ab4d/docs/content/destinations/webhook.mdoc",
  },
  facts: {
    ...says(
      "https://github.com/hookdeck/outpost/blob/f67ae011b287ff2588cb06699d808a69bba6ab4d/docs/content/destinations/webhook.mdoc",
      { sameBytes: true, rotation: "both signatures in one header, with a comma between them, for 24 hours" },
    ),
    ...says(
      "https://github.com/hookdeck/outpost/blob/f67ae011b287ff2588cb06699d808a69bba6ab4d/docs/content/features/event-delivery.mdoc",
      {
        answer: "any 2xx",
        repeats: "automatic",
        schedule:
          "as the operator sets it: 10 times, first after 30 seconds, then twice as long each time, if nothing is set",
      },
    ),
    ...says(
      "https://github.com/hookdeck/outpost/blob/f67ae011b287ff2588cb06699d808a69bba6ab4d/docs/content/self-hosting/configuration.mdoc",
      { answerSeconds: 5 },
    ),
  },
});
