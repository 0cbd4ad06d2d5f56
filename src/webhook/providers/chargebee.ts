import { provider, says } from "../provider.ts";

export default provider({
  title: "Chargebee",
  docs: "https://www.chargebee.com/docs/billing/2.0/site-configuration/webhook_settings",
  schemes: { type: "basic" },
  covers: "none",
  id: ["body:id"],
  type: ["body:event_type"],
  dedupe: {
    mode: "id",
    why: "A repeat keeps the event's id. Its body has the status of the webhook, which changes.",
    source: "https://apidocs.au.chargebee.com/docs/api/events/event-object",
  },
  facts: {
    ...says("https://support.chargebee.com/support/solutions/articles/257941", {
      schedule: "after 2, 6 and 30 minutes, 1 and 5 hours, and 1 and 2 days",
      repeatsForSeconds: 283_080,
    }),
    ...says("https://apidocs.au.chargebee.com/docs/api/events/event-object", {
      answer: "any 2xx",
      repeats: "automatic",
    }),
  },
  evidence: { kind: "sdk", by: "chargebee@3.33.0" },
});
