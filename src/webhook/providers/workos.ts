import { provider } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "WorkOS",
  docs: "https://workos.com/docs/events/data-syncing/webhooks",
  schemes: timestampedPairs("workos-signature", { timestamp: { pair: "t", unit: "ms" } }),
  id: ["body:id"],
  type: ["body:event"],
  evidence: {
    kind: "published",
    by: "https://github.com/workos/workos-dotnet/blob/2bed92a9a5be90d53b289b894ff73e0749a1e1d1/test/WorkOSTests/Services/Webhooks/WebhookTests.cs",
  },
});
