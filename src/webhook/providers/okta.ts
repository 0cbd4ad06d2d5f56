import { provider } from "../provider.ts";

export default provider({
  title: "Okta",
  docs: "https://developer.okta.com/docs/concepts/event-hooks/",
  schemes: { type: "token", header: "authorization" },
  covers: "none",
  id: ["body:eventId"],
  type: ["body:data.events.0.eventType"],
  handshake: "okta",
});
