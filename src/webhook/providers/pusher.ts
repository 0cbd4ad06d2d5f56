import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Pusher Channels",
  docs: "https://pusher.com/docs/channels/server_api/webhooks/",
  schemes: hmacOfBody("x-pusher-signature"),
  evidence: {
    kind: "published",
    by: "https://github.com/pusher/pusher-http-node/blob/7492d8db91463cbcb591bcbebadb8ea3767bf0ba/tests/integration/webhook.js",
  },
});
