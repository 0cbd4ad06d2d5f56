import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Sentry",
  docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
  schemes: hmacOfBody("sentry-hook-signature"),
  type: ["header:sentry-hook-resource", "body:action"],
});
