import { randomUUID } from "node:crypto";
import type { Template } from "./template.ts";
import { base62, base64url, hex, integer, isoSeconds, seconds, upperBase36 } from "./values.ts";

/** Chats, texts and calls. */
export const MESSAGES: Record<string, Template> = {
  intercom: {
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
  meta: {
    type: "messages",
    headers: () => ({ "user-agent": "facebookexternalua" }),
    content: {
      json: ({ type, now }) => ({
        object: "whatsapp_business_account",
        entry: [
          {
            id: "104839275016482",
            changes: [
              {
                value: {
                  messaging_product: "whatsapp",
                  metadata: { display_phone_number: "15550100001", phone_number_id: "107294618350927" },
                  contacts: [{ profile: { name: "Test User" }, wa_id: "15550100002" }],
                  messages: [
                    {
                      from: "15550100002",
                      id: `wamid.${Buffer.from(base62(41)).toString("base64")}`,
                      timestamp: String(seconds(now)),
                      text: { body: "Is my order on its way?" },
                      type: "text",
                    },
                  ],
                },
                field: type,
              },
            ],
          },
        ],
      }),
    },
  },
  slack: {
    type: "app_mention",
    newId: () => `Ev${upperBase36(9)}`,
    headers: () => ({ accept: "*/*", "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)" }),
    content: {
      json: ({ id, type, now }) => {
        const ts = `${seconds(now)}.${integer(6)}`;
        const team = "T07QK4M2XBD";
        return {
          token: base62(24),
          team_id: team,
          context_team_id: team,
          context_enterprise_id: null,
          api_app_id: "A07RN8C5WTE",
          event: {
            type,
            user: "U07P3V6ZJHS",
            ts,
            client_msg_id: randomUUID(),
            text: "<@U07S9F1YLKG> deploy the staging site",
            team,
            channel: "C07M5B8DQRN",
            event_ts: ts,
          },
          type: "event_callback",
          event_id: id,
          event_time: seconds(now),
          authorizations: [
            { enterprise_id: null, team_id: team, user_id: "U07S9F1YLKG", is_bot: true, is_enterprise_install: false },
          ],
          is_ext_shared_channel: false,
          event_context: `4-${base64url(60)}`,
        };
      },
    },
  },
  twilio: {
    type: "delivered",
    newId: randomUUID,
    headers: ({ id }) => ({
      accept: "*/*",
      "user-agent": "TwilioProxy/1.1",
      "i-twilio-idempotency-token": id,
      "x-home-region": "us1",
    }),
    content: {
      form: ({ type, now }) => {
        const messageSid = `SM${hex(32)}`;
        return {
          ApiVersion: "2010-04-01",
          AccountSid: `AC${hex(32)}`,
          From: "+15550100001",
          MessageSid: messageSid,
          MessageStatus: type,
          MessagingServiceSid: `MG${hex(32)}`,
          RawDlrDoneDate: isoSeconds(now).slice(2, 16).replace(/\D/g, ""),
          SmsSid: messageSid,
          SmsStatus: type,
          To: "+15550100002",
        };
      },
    },
  },
  zoom: {
    type: "meeting.started",
    newId: randomUUID,
    headers: ({ id }) => ({
      "user-agent": "Zoom Marketplace/1.0a",
      clientid: "kR8vXw2TQmGz5NcLbY7HdA",
      "x-zm-request-id": id,
      "x-zm-trackingid": `WEB_${hex(32)}`,
    }),
    content: {
      json: ({ type, now }) => ({
        event: type,
        payload: {
          account_id: "pT4mZc9XQwKd2RyVb7NgJL",
          object: {
            duration: 30,
            start_time: `${isoSeconds(now)}Z`,
            timezone: "Europe/Berlin",
            topic: "Weekly review",
            id: String(integer(11)),
            type: 2,
            uuid: Buffer.from(hex(32), "hex").toString("base64"),
            host_id: "hN6rBt3YSkWf8PzLd1VxMQ",
          },
        },
        event_ts: now,
      }),
    },
  },
};
