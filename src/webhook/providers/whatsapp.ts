import type { Provider } from "../provider.ts";
import meta from "./meta.ts";

// The sample of Meta is a message of WhatsApp.
export default {
  ...meta,
  title: "WhatsApp (Meta)",
  aliasOf: "meta",
  docs: "https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks",
} satisfies Provider;
