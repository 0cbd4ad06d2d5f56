import { provider } from "../provider.ts";
import { timestampedPairs } from "../signing.ts";

export default provider({
  title: "Hook0",
  docs: "https://documentation.hook0.com/tutorials/webhook-authentication",
  schemes: [
    timestampedPairs("x-hook0-signature", { signed: "{timestamp}.{pair:h}.{headers:h}.{body}" }),
    timestampedPairs("x-hook0-signature", { label: "v0" }),
  ],
  id: ["header:x-event-id"],
  type: ["header:x-event-type"],
  evidence: { kind: "sdk", by: "hook0-client@1.1.0" },
});
