import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

export default provider({
  title: "Cronofy",
  docs: "https://docs.cronofy.com/developers/push-notifications/authentication/",
  schemes: base64OfBody("cronofy-hmac-sha256", { format: "values" }),
  type: ["body:notification.type"],
  facts: says("https://docs.cronofy.com/developers/api/push-notifications/", {
    rotation: "the signatures of all secrets in the header, with commas between them",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/cronofy/cronofy-ruby/blob/b75d79f275ca5dc0704f2b3789e7d1cfbe056c6e/spec/lib/cronofy/client_spec.rb",
  },
});
