import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Modern Treasury",
  docs: "https://docs.moderntreasury.com/platform/reference/webhooks",
  schemes: hmacOfBody("x-signature"),
  evidence: {
    kind: "published",
    by: "https://github.com/Modern-Treasury/modern-treasury-node/blob/6dea66ee0a28a34299703f515ca479906b1f922e/tests/api-resources/webhooks.test.ts",
  },
});
