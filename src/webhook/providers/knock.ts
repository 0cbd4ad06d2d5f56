import { provider } from "../provider.ts";
import { timestampedPairs } from "../signing.ts";

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
});
