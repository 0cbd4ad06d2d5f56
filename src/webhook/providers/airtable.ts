import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Airtable",
  docs: "https://airtable.com/developers/web/api/webhooks-overview",
  schemes: hmacOfBody("x-airtable-content-mac", { label: "hmac-sha256=", key: "base64" }),
  needsEmptyAnswers: true,
  facts: {
    ...says("https://airtable.com/developers/web/api/webhooks-overview", { answer: "200 or 204 with an empty body" }),
    ...says("https://airtable.com/developers/web/api/model/webhooks-notification", { repeats: "automatic" }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/gtalarico/pyairtable/blob/25f31b0f4ab95d3e23ab37a645483ac38c8126ca/tests/test_models_webhook.py",
  },
});
