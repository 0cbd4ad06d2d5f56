import { provider } from "../provider.ts";

export default provider({
  title: "Cloudflare notifications",
  docs: "https://developers.cloudflare.com/notifications/get-started/configure-webhooks/",
  schemes: { type: "token", header: "cf-webhook-auth" },
  covers: "none",
  type: ["body:alert_type"],
});
