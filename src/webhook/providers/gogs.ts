import { FORM } from "../content/content.ts";
import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Gogs",
  docs: "https://gogs.io/advancing/webhooks",
  schemes: [
    hmacOfBody("x-gogs-signature"),
    // Of a form, the signature is that of its payload (gogs/gogs, internal/database/webhook.go).
    hmacOfBody("x-gogs-signature", { signed: "{form:payload}", only: { mediaType: FORM }, isIdentity: true }),
  ],
  id: ["header:x-gogs-delivery"],
  type: ["header:x-gogs-event"],
  contentTypes: JSON_OR_FORM,
  facts: says(
    "https://github.com/gogs/gogs/blob/eb1054e5432fc8397678372f08613429be233d7c/internal/database/webhook.go",
    { answer: "2xx", repeats: "manual" },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/go-playground/webhooks/blob/02d182ac47693b5f7263de2ba7bd46607c80aed8/gogs/gogs_test.go",
  },
});
