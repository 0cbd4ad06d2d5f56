import { provider } from "../provider.ts";
import { timestampedPairs } from "../signing.ts";

export default provider({
  title: "Sanity",
  docs: "https://www.sanity.io/docs/compute-and-ai/webhooks",
  schemes: timestampedPairs("sanity-webhook-signature", {
    encodings: ["base64url"],
    timestamp: { pair: "t", unit: "ms" },
  }),
  id: ["header:idempotency-key"],
  type: ["header:sanity-operation"],
  dedupe: {
    mode: "id",
    why: "A projection such as { _type, slug } is the same for each edit of a document. A repeat keeps its idempotency key.",
    source: "https://www.sanity.io/docs/compute-and-ai/webhooks",
  },
  evidence: {
    kind: "published",
    by: "https://github.com/sanity-io/webhook-toolkit/blob/649f5adcd8e9d45f73172b05870863b299ba9bc9/test/signature.test.ts",
  },
});
