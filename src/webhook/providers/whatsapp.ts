import { type Provider, says } from "../provider.ts";
import meta from "./meta.ts";

// The sample of Meta is a message of WhatsApp.
export default {
  ...meta,
  title: "WhatsApp (Meta)",
  aliasOf: "meta",
  docs: "https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks",
  facts: {
    ...meta.facts,
    ...says("https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks", {
      schedule: "at once, then less and less often, for 7 days",
      repeatsForSeconds: 7 * 86_400,
    }),
  },
} satisfies Provider;
