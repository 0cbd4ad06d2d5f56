import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Affirm",
  docs: "https://docs.affirm.com/developers/docs/checking-webhook-signatures",
  schemes: timestampedPairs("x-affirm-signature", { label: "v0", algorithm: "sha512" }),
  type: ["body:event"],
  contentTypes: JSON_OR_FORM,
  facts: says("https://docs.affirm.com/developers/docs/webhook-best-practices", { repeats: "never" }),
});
