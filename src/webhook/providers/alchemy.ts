import { base62, hex, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Alchemy",
  docs: "https://www.alchemy.com/docs/reference/notify-api-quickstart",
  schemes: hmacOfBody("x-alchemy-signature"),
  id: ["body:id"],
  type: ["body:type"],
  facts: says("https://docs.alchemy.com/reference/notify-api-faq", { batches: true }),
  sample: {
    type: "ADDRESS_ACTIVITY",
    newId: () => `whevt_${base62(16).toLowerCase()}`,
    content: {
      json: ({ id, type, now }) => ({
        webhookId: "wh_7qk2x9d4v1m8zt3c",
        id,
        createdAt: iso(now),
        type,
        event: {
          network: "ETH_MAINNET",
          activity: [
            {
              fromAddress: `0x${hex(40)}`,
              toAddress: `0x${hex(40)}`,
              blockNum: "0xdf34a3",
              hash: `0x${hex(64)}`,
              value: 0.25,
              asset: "ETH",
              category: "external",
              rawContract: { rawValue: "0x3782dace9d90000", decimals: 18 },
            },
          ],
        },
      }),
    },
  },
});
