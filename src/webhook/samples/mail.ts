import { randomUUID } from "node:crypto";
import type { Template } from "./template.ts";
import { base64url, hex, integer, iso, messageId, seconds } from "./values.ts";

/** Mail and customer records. */
export const MAIL: Record<string, Template> = {
  hubspot: {
    type: "contact.creation",
    headers: () => ({
      accept: "*/*",
      "user-agent":
        "HubSpot Connect 2.0 (http://dev.hubspot.com/) (namespace: webhooks-nio-http-client) - WebhooksExecutorDaemon-executor",
      "x-hubspot-timeout-millis": "10000",
    }),
    content: {
      json: ({ type, now }) => [
        {
          appId: 4_170_528,
          eventId: integer(10),
          subscriptionId: 2_903_417,
          portalId: 48_120_673,
          occurredAt: now - 800,
          subscriptionType: type,
          attemptNumber: 0,
          objectId: integer(12),
          changeFlag: "CREATED",
          changeSource: "CRM_UI",
          sourceId: "userId:73104862",
        },
      ],
    },
  },
  mailgun: {
    type: "delivered",
    newId: () => base64url(16),
    headers: () => ({ "user-agent": "mailgun/treq-24.9.1" }),
    content: {
      json: ({ id, type, now }) => ({
        // The signature covers only these two: whoever signs fills in the third.
        signature: { timestamp: String(seconds(now)), token: hex(50), signature: "" },
        "event-data": {
          event: type,
          id,
          timestamp: (now - 900) / 1000,
          flags: { "is-authenticated": true, "is-routed": false, "is-system-test": false, "is-test-mode": false },
          message: {
            attachments: [],
            headers: {
              "message-id": `${hex(32)}@mg.example.com`,
              from: "Acme <billing@mg.example.com>",
              to: "customer@example.com",
              subject: "Your receipt",
            },
            size: 1204,
          },
          "log-level": "info",
          recipient: "customer@example.com",
          "recipient-domain": "example.com",
          "recipient-provider": "Other",
          "primary-dkim": "pdk1._domainkey.mg.example.com",
          tags: ["receipt"],
          campaigns: [],
          "delivery-status": {
            "attempt-no": 1,
            code: 250,
            message: "OK",
            description: null,
            "session-seconds": 0.742,
            "mx-host": "mx.example.com",
            "certificate-verified": true,
            tls: true,
            utf8: true,
          },
          domain: { name: "mg.example.com" },
          envelope: {
            sender: "billing@mg.example.com",
            targets: "customer@example.com",
            transport: "smtp",
            "sending-ip": "192.0.2.25",
          },
          "user-variables": {},
        },
      }),
    },
  },
  mandrill: {
    type: "send",
    headers: () => ({ "user-agent": "Mandrill-Webhook/1.0" }),
    content: {
      form: ({ type, now }) => {
        const _id = hex(32);
        const msg = {
          ts: seconds(now - 1000),
          _id,
          state: "sent",
          subject: "Your receipt",
          email: "customer@example.com",
          sender: "billing@example.com",
          tags: ["receipt"],
          opens: [],
          clicks: [],
          smtp_events: [],
          resends: [],
          metadata: { order_id: "1042" },
          template: null,
        };
        return { mandrill_events: JSON.stringify([{ event: type, _id, msg, ts: seconds(now) }]) };
      },
    },
  },
  resend: {
    type: "email.delivered",
    newId: messageId,
    headers: ({ id }) => ({ "user-agent": "Svix-Webhooks/1.84.0", "svix-id": id }),
    content: {
      json: ({ type, now }) => ({
        type,
        created_at: iso(now),
        data: {
          created_at: iso(now - 1500).replace("Z", "+00:00"),
          email_id: randomUUID(),
          from: "Acme <billing@example.com>",
          to: ["customer@example.com"],
          subject: "Your receipt",
          tags: { category: "receipt" },
        },
      }),
    },
  },
};
