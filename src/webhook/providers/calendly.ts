import { randomUUID } from "node:crypto";
import { iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

const MINUTE_MS = 60_000;

export default provider({
  title: "Calendly",
  docs: "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures",
  schemes: timestampedPairs("calendly-webhook-signature"),
  type: ["body:event"],
  facts: {
    ...says("https://developer.calendly.com/docs/webhooks/overview", { answer: "any 2xx", answerSeconds: 15 }),
    ...says("https://developer.calendly.com/api-docs/overview/webhooks/webhook-errors", {
      repeats: "automatic",
      schedule: "with growing delays",
      repeatsForSeconds: 86_400,
      disables: "after 24 hours of failures",
    }),
  },
  sample: {
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
});
