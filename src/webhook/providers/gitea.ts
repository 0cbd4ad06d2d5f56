import { FORM } from "../content/content.ts";
import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Gitea",
  docs: "https://docs.gitea.com/usage/webhooks",
  schemes: [
    hmacOfBody("x-gitea-signature"),
    // Of a form, the signature is that of its payload (go-gitea/gitea, services/webhook/deliver.go).
    hmacOfBody("x-gitea-signature", { signed: "{form:payload}", only: { mediaType: FORM }, isIdentity: true }),
  ],
  id: ["header:x-gitea-delivery"],
  type: ["header:x-gitea-event"],
  contentTypes: JSON_OR_FORM,
  facts: says(
    "https://github.com/go-gitea/gitea/blob/05a2257af2f29077a2c0374111aa12becf7f6083/services/webhook/deliver.go",
    { answer: "any 2xx", repeats: "manual" },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/go-playground/webhooks/blob/02d182ac47693b5f7263de2ba7bd46607c80aed8/gitea/gitea_test.go",
  },
});
