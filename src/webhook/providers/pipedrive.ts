import { randomUUID } from "node:crypto";
import { integer, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

export default provider({
  title: "Pipedrive",
  docs: "https://pipedrive.readme.io/docs/guide-for-webhooks-v2",
  schemes: { type: "basic" },
  covers: "none",
  id: [
    ["body:meta.id", "body:meta.correlation_id"],
    // In version 1, `meta.id` is that of the object.
    ["body:meta.webhook_id", "body:meta.timestamp_micro", "body:meta.id", "body:event"],
  ],
  type: ["body:meta.entity", "body:event"],
  dedupe: {
    mode: "id",
    why: "Each attempt counts itself in the body.",
    source: "https://pipedrive.readme.io/docs/guide-for-webhooks-v2",
  },
  facts: says("https://pipedrive.readme.io/docs/guide-for-webhooks-v2", {
    repeatChanges: ["body"],
    answer: "2xx",
    answerSeconds: 10,
    repeats: "automatic",
    schedule: "after 3, 30 and 150 seconds",
    repeatsForSeconds: 183,
    disables: "for 30 minutes after 10 failures; for good after 3 days without a success",
  }),
  sample: {
    type: "deal",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => {
        const time = `${isoSeconds(now)}Z`;
        const entityId = integer(6);
        return {
          data: { id: entityId, title: "Order 1042", value: 19, currency: "EUR", status: "won", update_time: time },
          previous: { status: "open", update_time: `${isoSeconds(now - 3_600_000)}Z` },
          meta: {
            action: "change",
            entity: type,
            company_id: "1048392",
            correlation_id: id,
            entity_id: String(entityId),
            id: randomUUID(),
            is_bulk_edit: false,
            timestamp: time,
            type: "general",
            user_id: "20417355",
            version: "2.0",
            webhook_id: "51820",
            webhook_owner_id: "20417355",
            change_source: "app",
            permitted_user_ids: ["20417355"],
            attempt: 1,
            host: "hooks.example.com",
          },
        };
      },
    },
  },
});
