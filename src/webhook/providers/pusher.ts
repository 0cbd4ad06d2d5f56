import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Pusher Channels",
  docs: "https://pusher.com/docs/channels/server_api/webhooks/",
  schemes: hmacOfBody("x-pusher-signature"),
  type: ["body:events.0.name"],
  facts: says("https://docs.bird.com/pusher/channels/channels/webhooks/channels-webhook-timeouts-and-retries", {
    answer: "any 2xx",
    answerSeconds: 4,
    repeats: "automatic",
    schedule: "with an exponential backoff",
    repeatsForSeconds: 300,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/pusher/pusher-http-node/blob/7492d8db91463cbcb591bcbebadb8ea3767bf0ba/tests/integration/webhook.js",
  },
});
