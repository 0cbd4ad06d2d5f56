import { hash } from "node:crypto";
import { JSON_OR_FORM, provider } from "../provider.ts";

export default provider({
  title: "MessageBird",
  docs: "https://developers.messagebird.com/api/#verifying-http-requests",
  schemes: {
    type: "jwt",
    header: "messagebird-signature-jwt",
    algorithms: ["HS256", "HS384", "HS512"],
    issuer: "MessageBird",
    bodyClaim: "payload_hash",
    isBodyOptional: true,
    requestClaims: { url_hash: ({ origin, target }) => [hash("sha256", origin + target)] },
  },
  id: ["claim:jti"],
  contentTypes: JSON_OR_FORM,
  evidence: {
    kind: "published",
    by: "https://github.com/messagebird/messagebird-nodejs/blob/2d8b7de16c6c4c24829bc009dfa29c59a68ab189/lib/testdata/webhook-signature-jwt-reference.json",
  },
});
