import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Heroku",
  docs: "https://devcenter.heroku.com/articles/app-webhooks",
  schemes: base64OfBody("heroku-webhook-hmac-sha256"),
  id: ["body:webhook_metadata.event.id"],
  type: ["body:webhook_metadata.event.include"],
  facts: says("https://devcenter.heroku.com/changelog-items/1966", {
    repeats: "automatic",
    repeatsForSeconds: 72 * 3600,
    keepsDays: 7,
  }),
});
