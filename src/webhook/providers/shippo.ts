import { provider } from "../provider.ts";
import { timestampedPairs } from "../signature/signing.ts";

export default provider({
  title: "Shippo",
  docs: "https://docs.goshippo.com/docs/tracking/webhooksecurity",
  schemes: timestampedPairs("shippo-auth-signature"),
  type: ["body:event"],
});
