import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

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
  facts: {
    ...says("https://www.sanity.io/docs/nextjs/validating-sanity-webhooks-nextjs", { sameBytes: true }),
    ...says("https://www.sanity.io/docs/changelog/50ec6abf-fe0c-475b-ae72-314148860132", {
      repeats: "automatic",
      schedule: "2 times, every 30 seconds, after 429 or 5xx",
      repeatsForSeconds: 60,
    }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/sanity-io/webhook-toolkit/blob/649f5adcd8e9d45f73172b05870863b299ba9bc9/test/signature.test.ts",
  },
});
