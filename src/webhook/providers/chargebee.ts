import { provider } from "../provider.ts";

export default provider({
  title: "Chargebee",
  docs: "https://www.chargebee.com/docs/billing/2.0/site-configuration/webhook_settings",
  schemes: { type: "basic" },
  covers: "none",
  id: ["body:id"],
  type: ["body:event_type"],
  evidence: { kind: "sdk", by: "chargebee@3.33.0" },
});
