import { FORM } from "../content/content.ts";
import { JSON_OR_FORM, provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Forgejo",
  docs: "https://forgejo.org/docs/latest/user/webhooks/",
  schemes: [
    hmacOfBody("x-forgejo-signature"),
    // Of a form, the signature is that of its payload (go-gitea/gitea, services/webhook/deliver.go).
    hmacOfBody("x-forgejo-signature", { signed: "{form:payload}", only: { mediaType: FORM }, isIdentity: true }),
  ],
  id: ["header:x-forgejo-delivery"],
  type: ["header:x-forgejo-event"],
  contentTypes: JSON_OR_FORM,
});
