import { provider } from "../provider.ts";
import { timestampedPairs } from "../signing.ts";

export default provider({
  title: "Persona",
  docs: "https://docs.withpersona.com/docs/webhooks-best-practices",
  // While a secret is being rotated, there is one group for each.
  schemes: timestampedPairs("persona-signature", { groupSeparator: " " }),
  id: ["body:data.id"],
  type: ["body:data.attributes.name"],
});
