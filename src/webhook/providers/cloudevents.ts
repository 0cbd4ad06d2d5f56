import { provider } from "../provider.ts";

export default provider({
  title: "CloudEvents",
  docs: "https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md",
  schemes: { type: "token", header: "authorization", label: "Bearer " },
  covers: "none",
  id: ["header:ce-id", "body:id", "body:0.id"],
  type: ["header:ce-type", "body:type", "body:0.type"],
  contentTypes: ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"],
  handshake: "cloudevents",
});
