import { integer, isoSeconds, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

export default provider({
  title: "Brevo",
  docs: "https://developers.brevo.com/docs/secured-webhooks",
  schemes: [BEARER_TOKEN, { type: "basic" }],
  covers: "none",
  // `id` is that of the webhook.
  type: ["body:event", "body:0.event"],
  facts: {
    ...says("https://developers.brevo.com/docs/retry-mechanism", {
      repeats: "automatic",
      schedule: "after 10 minutes and 1, 2 and 8 hours",
      repeatsForSeconds: 40_200,
    }),
    ...says("https://developers.brevo.com/docs/batch-webhooks", { batches: true }),
  },
  sample: {
    type: "delivered",
    content: {
      json: ({ type, now }) => ({
        event: type,
        email: "customer@example.com",
        id: 26_224,
        date: isoSeconds(now).replace("T", " "),
        ts: seconds(now) - 2,
        "message-id": `<${isoSeconds(now).slice(0, 16).replace(/\D/g, "")}.${integer(11)}@smtp-relay.example.com>`,
        ts_event: seconds(now),
        subject: "Your order 1042",
        tag: '["orders"]',
        sending_ip: "192.0.2.17",
        ts_epoch: now,
        tags: ["orders"],
      }),
    },
  },
});
