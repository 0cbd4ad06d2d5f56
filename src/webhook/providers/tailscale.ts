import { base62, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Tailscale",
  docs: "https://tailscale.com/docs/features/webhooks",
  // The time is that of the event, which it repeats for a day.
  schemes: timestampedPairs("tailscale-webhook-signature", { toleranceSeconds: 86_400 }),
  type: ["body:0.type"],
  facts: says("https://tailscale.com/docs/features/webhooks", {
    batches: true,
    answer: "2xx",
    repeats: "automatic",
    schedule: "every hour",
    repeatsForSeconds: 86_400,
  }),
  sample: {
    type: "nodeCreated",
    content: {
      json: ({ type, now }) => [
        {
          timestamp: `${isoSeconds(now)}Z`,
          version: 1,
          type,
          tailnet: "example.com",
          message: "Node web-1 created",
          data: {
            nodeID: `n${base62(12)}CNTRL`,
            deviceName: "web-1.tail4a1c.ts.net",
            managedBy: "user@example.com",
            actor: "user@example.com",
            url: "https://login.tailscale.com/admin/machines/100.64.0.7",
          },
        },
      ],
    },
  },
});
