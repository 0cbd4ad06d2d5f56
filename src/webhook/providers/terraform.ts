import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "HCP Terraform",
  docs: "https://developer.hashicorp.com/terraform/cloud-docs/workspaces/settings/notifications",
  // Notifications; run tasks.
  schemes: hmacOfBody({ headers: ["x-tfe-notification-signature", "x-tfc-task-signature"] }, { algorithm: "sha512" }),
  type: ["body:notifications.0.trigger"],
  facts: says("https://developer.hashicorp.com/terraform/cloud-docs/workspaces/settings/notifications", {
    answer: "any 2xx",
  }),
});
