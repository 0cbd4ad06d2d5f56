import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "ClickUp",
  docs: "https://developer.clickup.com/docs/webhooksignature",
  schemes: hmacOfBody("x-signature"),
  id: ["body:history_items.0.id"],
  type: ["body:event"],
});
