import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Knock",
  docs: "https://docs.knock.app/developer-tools/outbound-webhooks/overview",
  schemes: timestampedPairs("x-knock-signature", {
    label: "s",
    encodings: ["base64"],
    timestamp: { pair: "t", unit: "ms" },
  }),
  id: ["body:id"],
  type: ["body:type"],
  facts: says("https://docs.knock.app/developer-tools/outbound-webhooks/overview", {
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "8 attempts",
  }),
});
