import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "CircleCI",
  docs: "https://circleci.com/docs/guides/integration/outbound-webhooks/",
  schemes: hmacOfBody("circleci-signature", { format: "pairs", label: "v1" }),
  id: ["body:id"],
  type: ["body:type"],
  facts: says("https://circleci.com/docs/guides/integration/outbound-webhooks/", {
    answer: "any 2xx",
    answerSeconds: 10,
    repeats: "automatic",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/circleci/circleci-docs/blob/9734a1410cc98741bc09b84f187325a8f43baf68/docs/guides/modules/integration/pages/outbound-webhooks.adoc",
  },
});
