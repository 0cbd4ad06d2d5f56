import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Polar",
  docs: "https://polar.sh/docs/integrate/webhooks/delivery",
  // Its secret is not decoded: the key is the text.
  schemes: standardWebhooks("webhook", { key: "utf8" }),
  id: ["header:webhook-id"],
  type: ["body:type"],
  facts: {
    ...says("https://polar.sh/docs/integrate/webhooks/delivery", {
      answer: "any 2xx",
      answerSeconds: 10,
      repeats: "automatic",
      schedule: "10 times with an exponential backoff",
      disables: "after 10 deliveries in a row that failed",
    }),
    ...says(
      "https://github.com/polarsource/polar/blob/c6c3645e639ee8eeaa05aa0835cf8e39e330382f/server/polar/webhook/tasks.py",
      { repeatChanges: ["time"] },
    ),
  },
  evidence: { kind: "sdk", by: "@polar-sh/sdk@0.49.0" },
});
