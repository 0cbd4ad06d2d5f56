import { consent } from "../provider/described-handshakes.ts";
import { inMember, json } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

export default provider({
  title: "Azure Event Grid",
  docs: "https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema",
  schemes: [{ type: "token", query: "code" }, BEARER_TOKEN],
  covers: "none",
  id: ["body:id", "body:0.id"],
  type: ["body:type", "body:0.eventType", "body:0.type"],
  contentTypes: ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"],
  handshake: {
    kind: "event_grid",
    // In the schema of CloudEvents.
    options: consent,
    json: { validationResponse: "text" },
    delivery(content) {
      if (content.member("0.eventType") !== "Microsoft.EventGrid.SubscriptionValidationEvent") return null;
      return inMember(content, "0.data.validationCode", (validationResponse) => json({ validationResponse }));
    },
  },
  facts: says("https://learn.microsoft.com/en-us/azure/event-grid/delivery-and-retry", {
    batches: true,
    answerSeconds: 30,
    repeats: "automatic",
    schedule:
      "after 10 and 30 seconds, 1, 5, 10 and 30 minutes, and 1 hour, then more rarely; not after 400, 401, 403 and 413",
    repeatsForSeconds: 86_400,
  }),
});
