import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Coinbase Commerce",
  docs: "https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-security",
  schemes: hmacOfBody("x-cc-webhook-signature"),
  id: ["body:event.id"],
  type: ["body:event.type"],
  facts: {
    ...says("https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-fields", { repeatChanges: ["body"] }),
    ...says("https://docs.cloud.coinbase.com/commerce-onchain/docs/webhooks", {
      answer: "200",
      repeats: "automatic",
      schedule: "with delays that grow to an hour",
      repeatsForSeconds: 3 * 86_400,
    }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/coinbase/coinbase-commerce-node/blob/d46c59684423b07d068e001ae8c5d58abb9cbbc1/test/testWebhook.spec.js",
  },
});
