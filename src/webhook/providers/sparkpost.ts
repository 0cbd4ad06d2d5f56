import { randomUUID } from "node:crypto";
import { hex, integer, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

export default provider({
  title: "SparkPost",
  docs: "https://support.sparkpost.com/docs/tech-resources/webhook-data-streams",
  schemes: [BEARER_TOKEN, { type: "basic" }, { type: "token", header: "x-messagesystems-webhook-token" }],
  covers: "none",
  id: ["header:x-messagesystems-batch-id"],
  type: [
    "body:0.msys.message_event.type",
    "body:0.msys.track_event.type",
    "body:0.msys.gen_event.type",
    "body:0.msys.unsubscribe_event.type",
    "body:0.msys.relay_event.type",
  ],
  facts: {
    ...says("https://support.sparkpost.com/docs/tech-resources/webhook-data-streams", {
      batches: true,
      answer: "2xx",
      answerSeconds: 10,
      repeats: "automatic",
      schedule: "up to 12 attempts with growing delays",
      repeatsForSeconds: 8 * 3600,
    }),
    ...says("https://docs.bird.com/api/email-api/webhooks", { keepsDays: 1 }),
  },
  sample: {
    type: "delivery",
    newId: randomUUID,
    headers: ({ id }) => ({ "x-messagesystems-batch-id": id }),
    content: {
      json: ({ type, now }) => [
        {
          msys: {
            message_event: {
              type,
              event_id: String(integer(15)),
              message_id: hex(20),
              transmission_id: String(integer(15)),
              customer_id: "1",
              subject: "Your order 1042",
              friendly_from: "shop@example.com",
              rcpt_to: "customer@example.com",
              raw_rcpt_to: "customer@example.com",
              rcpt_tags: [],
              rcpt_meta: {},
              ip_address: "192.0.2.17",
              msg_from: "bounces@mail.example.com",
              msg_size: "1337",
              num_retries: "0",
              queue_time: "12",
              recv_method: "rest",
              timestamp: String(seconds(now)),
            },
          },
        },
      ],
    },
  },
});
