import { randomUUID } from "node:crypto";
import type { Template } from "./template.ts";
import { base62, hex, iso, isoSeconds, ulid } from "./values.ts";

const MINUTE_MS = 60_000;

/** Calendars, documents and forms. */
export const WORK: Record<string, Template> = {
  ms_graph: {
    type: "updated",
    content: {
      json: ({ type, now }) => ({
        value: [
          {
            subscriptionId: "f4a83c52-0d17-4be9-95c6-a27e1b60d384",
            subscriptionExpirationDateTime: iso(now + 3_600_000),
            changeType: type,
            clientState: "",
            resource: `Users/2b7d9f10/Messages/${base62(32)}`,
            tenantId: "84bd8158-6d4d-4958-8b9f-9d6445542f95",
          },
        ],
      }),
    },
  },
  calendly: {
    type: "invitee.created",
    content: {
      json: ({ type, now }) => {
        const api = "https://api.calendly.com";
        const user = `${api}/users/0c7e5b19-84d2-4f36-a1c8-e92b60f7d453`;
        const event = `${api}/scheduled_events/${randomUUID()}`;
        const inviteeId = randomUUID();
        return {
          created_at: iso(now),
          created_by: user,
          event: type,
          payload: {
            cancel_url: `https://calendly.com/cancellations/${inviteeId}`,
            created_at: iso(now - 1000),
            email: "invitee@example.com",
            event,
            first_name: null,
            last_name: null,
            name: "Test Invitee",
            new_invitee: null,
            no_show: null,
            old_invitee: null,
            payment: null,
            questions_and_answers: [{ answer: "The yearly plan", position: 0, question: "What is it about?" }],
            reschedule_url: `https://calendly.com/reschedulings/${inviteeId}`,
            rescheduled: false,
            scheduled_event: {
              uri: event,
              name: "Introduction",
              status: "active",
              start_time: iso(now + 60 * MINUTE_MS),
              end_time: iso(now + 90 * MINUTE_MS),
              event_type: `${api}/event_types/6fa1d3c8-57b0-4e92-8d6f-31c4a9e0b725`,
              location: { type: "physical", location: "1 Example Street, Berlin" },
              invitees_counter: { total: 1, active: 1, limit: 1 },
              event_memberships: [{ user, user_email: "host@example.com", user_name: "Test Host" }],
              event_guests: [],
              created_at: iso(now - 1000),
              updated_at: iso(now - 1000),
            },
            status: "active",
            text_reminder_number: null,
            timezone: "Europe/Berlin",
            updated_at: iso(now - 1000),
            uri: `${event}/invitees/${inviteeId}`,
          },
        };
      },
    },
  },
  notion: {
    type: "page.content_updated",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => ({
        id,
        timestamp: iso(now),
        workspace_id: "b3e80d52-7c14-49fa-a6d3-05f1c92e8b47",
        workspace_name: "Acme",
        subscription_id: "29dc7f61-0b85-4e3a-9f72-c84e1da6035b",
        integration_id: "7a4f1e93-d62b-48c0-b5e9-3f80c7216ad4",
        authors: [{ id: "e05c9b38-41d7-4fa2-8e6b-92d37a0f1c5e", type: "person" }],
        attempt_number: 1,
        api_version: "2025-09-03",
        entity: { id: randomUUID(), type: "page" },
        type,
        data: {
          updated_blocks: [{ id: randomUUID(), type: "block" }],
          parent: { id: "d8176e4c-a350-4b9d-bf21-60c5e93a7f08", type: "page" },
        },
      }),
    },
  },
  typeform: {
    type: "form_response",
    newId: () => ulid().toUpperCase(),
    headers: () => ({ "user-agent": "Typeform Webhooks" }),
    content: {
      json: ({ id, type, now }) => {
        const rating = { id: "Kq3vTzB8mXwd", ref: "rating", type: "rating" };
        const email = { id: "pN6yRcF1hJgs", ref: "email", type: "email" };
        return {
          event_id: id,
          event_type: type,
          form_response: {
            form_id: "Wt5xQm9k",
            token: hex(32),
            landed_at: `${isoSeconds(now - 2 * MINUTE_MS)}Z`,
            submitted_at: `${isoSeconds(now)}Z`,
            hidden: { customer_id: "42" },
            calculated: { score: 0 },
            definition: {
              id: "Wt5xQm9k",
              title: "Customer survey",
              fields: [
                { ...rating, title: "How do you rate us?", properties: {} },
                { ...email, title: "Where can we reach you?", properties: {} },
              ],
              endings: [{ id: "DefaultTyScreen", ref: "default_tys", title: "Thank you", type: "thankyou_screen" }],
            },
            answers: [
              { type: "number", number: 4, field: rating },
              { type: "email", email: "customer@example.com", field: email },
            ],
            ending: { id: "DefaultTyScreen", ref: "default_tys" },
          },
        };
      },
    },
  },
};
