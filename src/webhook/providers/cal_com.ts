import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Cal.com",
  docs: "https://cal.com/docs/developing/guides/automation/webhooks",
  schemes: hmacOfBody("x-cal-signature-256"),
  type: ["body:triggerEvent"],
});
