import { provider, says } from "../provider.ts";
import { standardSchemes } from "../signature/signing.ts";

export default provider({
  title: "Standard Webhooks",
  docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
  schemes: standardSchemes("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  facts: says("https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md", {
    repeatChanges: ["time"],
    rotation: "several signatures in one header, a blank between them",
    answer: "any 2xx",
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/standard-webhooks/standard-webhooks/blob/b2fa7b8719fb75d326b591077f5d1b385cfcdfae/libraries/javascript/src/webhook.test.ts",
  },
});
