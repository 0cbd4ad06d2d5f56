import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "ClickUp",
  docs: "https://developer.clickup.com/docs/webhooksignature",
  schemes: hmacOfBody("x-signature"),
  // One change is two events, for example taskCreated and taskStatusUpdated, which share its history item.
  id: [["body:event", "body:history_items.0.id"]],
  type: ["body:event"],
});
