import { provider } from "../provider.ts";
import { base64OfBody } from "../signing.ts";

export default provider({
  title: "Heroku",
  docs: "https://devcenter.heroku.com/articles/app-webhooks",
  schemes: base64OfBody("heroku-webhook-hmac-sha256"),
  id: ["body:webhook_metadata.event.id"],
  type: ["body:webhook_metadata.event.include"],
});
