import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Sentry",
  docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
  schemes: hmacOfBody("sentry-hook-signature"),
  type: ["header:sentry-hook-resource", "body:action"],
  facts: says("https://sentry.io/changelog/2023-10-3-change-to-integration-platform-webhook-handling", {
    answerSeconds: 1,
    disables: "after 1000 timeouts within 24 hours",
  }),
});
