import { JSON_OR_FORM, provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Cal.com",
  docs: "https://cal.com/docs/developing/guides/automation/webhooks",
  schemes: hmacOfBody("x-cal-signature-256"),
  type: ["body:triggerEvent"],
  // A template of the user that is no JSON is sent as a form.
  contentTypes: JSON_OR_FORM,
});
