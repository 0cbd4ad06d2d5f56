import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "ClickUp",
  docs: "https://developer.clickup.com/docs/webhooksignature",
  schemes: hmacOfBody("x-signature"),
  // One change is two events, for example taskCreated and taskStatusUpdated, which share its history item.
  id: [["body:event", "body:history_items.0.id"]],
  type: ["body:event"],
  facts: says("https://developer.clickup.com/docs/webhookhealth", {
    answerSeconds: 7,
    repeats: "automatic",
    schedule: "up to five times",
    disables: "after 100 events that failed, or at once on 401 or 410",
  }),
});
