import { hex, integer, iso, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { GOOGLE_KEYS, GOOGLE_OPTIONS, googleToken } from "../signature/signing.ts";

const PUSH = "https://cloud.google.com/pubsub/docs/push";

export default provider({
  title: "Google Cloud Pub/Sub",
  docs: "https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions",
  schemes: googleToken(),
  keysUrl: GOOGLE_KEYS,
  options: GOOGLE_OPTIONS,
  covers: "none",
  // The second is that of messages without a wrapper, if the subscription writes their metadata.
  id: ["body:message.messageId", "header:x-goog-pubsub-message-id"],
  // The attribute by which Google's own services, such as Cloud Storage, name their events.
  type: ["body:message.attributes.eventType", "header:eventtype"],
  // Messages without a wrapper have any content.
  contentTypes: ["*/*"],
  dedupe: {
    mode: "id",
    why: "A repeat has the same messageId, and another deliveryAttempt where a dead-letter topic is set.",
    source: PUSH,
  },
  facts: {
    ...says(PUSH, {
      repeatChanges: ["body"],
      batches: false,
      answer: "102, 200, 201, 202 or 204",
      repeats: "automatic",
    }),
    ...says(
      "https://github.com/googleapis/googleapis/blob/01c681586d8d6dbd60155289b587aee678530bd9/google/pubsub/v1/pubsub.proto",
      { answerSeconds: 10, repeatsForSeconds: 7 * 86_400, keepsDays: 7 },
    ),
    // 10 MB of data, which base64 makes longer by a third.
    ...says(
      "https://cloud.google.com/python/docs/reference/pubsub/latest/google.cloud.pubsub_v1.types.IngestionFailureEvent.ApiViolationReason",
      { maxBodyBytes: 14 * 1024 * 1024 },
    ),
  },
  evidence: {
    kind: "published",
    by: "https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions",
  },
  // A notification of Cloud Storage.
  sample: {
    type: "OBJECT_FINALIZE",
    newId: () => String(integer(15)),
    content: {
      json: ({ id, type, now }) => {
        const object = {
          kind: "storage#object",
          name: "invoices/2026/0042.pdf",
          bucket: "example-uploads",
          contentType: "application/pdf",
          size: "48213",
          timeCreated: iso(now),
          md5Hash: Buffer.from(hex(32), "hex").toString("base64"),
        };
        const publishTime = iso(now);
        return {
          message: {
            attributes: {
              bucketId: object.bucket,
              eventTime: `${isoSeconds(now)}.000000Z`,
              eventType: type,
              notificationConfig: "projects/_/buckets/example-uploads/notificationConfigs/1",
              objectGeneration: String(integer(15)),
              objectId: object.name,
              payloadFormat: "JSON_API_V1",
            },
            data: Buffer.from(JSON.stringify(object)).toString("base64"),
            messageId: id,
            message_id: id,
            publishTime,
            publish_time: publishTime,
          },
          subscription: "projects/example-project/subscriptions/uploads",
        };
      },
    },
  },
});
