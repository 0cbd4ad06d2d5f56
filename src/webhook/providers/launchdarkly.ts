import { provider } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "LaunchDarkly",
  docs: "https://launchdarkly.com/docs/home/infrastructure/webhooks",
  schemes: hmacOfBody("x-ld-signature"),
  id: ["body:_id"],
  type: ["body:kind"],
});
