import { provider } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Buildkite",
  docs: "https://buildkite.com/docs/apis/webhooks/pipelines",
  schemes: timestampedPairs("x-buildkite-signature", { label: "signature", timestamp: { pair: "timestamp" } }),
  type: ["body:event"],
  evidence: {
    kind: "published",
    by: "https://github.com/buildkite/go-buildkite/blob/62b6fcf322c5259e786ac43db46f5c6419617411/webhook_test.go",
  },
});
