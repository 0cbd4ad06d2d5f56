import { randomUUID } from "node:crypto";
import { isThere } from "../provider/handshake.ts";
import { hex, integer, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Intercom",
  docs: "https://developers.intercom.com/docs/webhooks/setting-up-webhooks",
  schemes: hmacOfBody("x-hub-signature", { label: "sha1=", algorithm: "sha1" }),
  id: ["body:id"],
  type: ["body:topic"],
  // HEAD when the URL is saved:
  // https://github.com/firstcreditunion/loan-status-hub, documentation/intercom/webhook/set-up-webhooks.md, a copy of its page
  handshake: { kind: "intercom", head: isThere },
  facts: {
    ...says("https://developers.intercom.com/docs/webhooks/webhook-notifications", {
      disables:
        "for 15 minutes after 1,000 failures in a row within 15 minutes; those of private apps after 7 days of failures",
    }),
    ...says(
      "https://github.com/api-evangelist/intercom/blob/91a2e1ca4c41c483e9c61cee212b05ec09647c9b/asyncapi/intercom-webhooks-asyncapi.yml",
      { answer: "any 2xx", repeats: "automatic" },
    ),
  },
  sample: {
    type: "conversation.user.created",
    newId: () => `notif_${randomUUID()}`,
    content: {
      json: ({ id, type, now }) => {
        const conversationId = String(integer(15));
        const author = { type: "user", id: hex(24), name: "Test User", email: "user@example.com" };
        return {
          type: "notification_event",
          app_id: "q7w2xk9d",
          data: {
            type: "notification_event_data",
            item: {
              type: "conversation",
              id: conversationId,
              created_at: seconds(now - 2000),
              updated_at: seconds(now),
              source: {
                type: "conversation",
                id: String(integer(10)),
                delivered_as: "customer_initiated",
                subject: "",
                body: "<p>Where can I find my invoices?</p>",
                author,
                attachments: [],
                url: "https://www.example.com/billing",
              },
              contacts: { type: "contact.list", contacts: [{ type: "contact", id: author.id, external_id: "42" }] },
              admin_assignee_id: null,
              team_assignee_id: null,
              open: true,
              state: "open",
              read: false,
              priority: "not_priority",
              tags: { type: "tag.list", tags: [] },
            },
          },
          links: {},
          id,
          topic: type,
          delivery_status: "pending",
          delivery_attempts: 1,
          delivered_at: 0,
          first_sent_at: seconds(now),
          created_at: seconds(now),
          self: null,
        };
      },
    },
  },
});
