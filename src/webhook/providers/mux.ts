import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Mux",
  docs: "https://www.mux.com/docs/core/verify-webhook-signatures",
  schemes: timestampedPairs("mux-signature"),
  id: ["body:id"],
  type: ["body:type"],
  facts: says("https://github.com/muxinc/mux-node-sdk/issues/83", { repeatChanges: ["body"] }),
  evidence: {
    kind: "published",
    by: "https://github.com/muxinc/mux-elixir/blob/eb7368730a47c0e32c53b49be8fbcb682bd6f27b/test/mux/webhooks_test.exs",
  },
});
