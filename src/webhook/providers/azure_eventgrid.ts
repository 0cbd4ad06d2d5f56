import { provider } from "../provider.ts";

export default provider({
  title: "Azure Event Grid",
  docs: "https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema",
  schemes: [
    { type: "token", query: "code" },
    { type: "token", header: "authorization", label: "Bearer " },
  ],
  covers: "none",
  id: ["body:id", "body:0.id"],
  type: ["body:type", "body:0.eventType", "body:0.type"],
  contentTypes: ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"],
  handshake: "event_grid",
});
