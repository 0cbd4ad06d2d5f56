import { provider } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Lob",
  docs: "https://help.lob.com/print-and-mail/getting-data-and-results/using-webhooks",
  // The page names no unit.
  schemes: (["s", "ms"] as const).map((unit) =>
    timestamped("lob-signature", { header: "lob-signature-timestamp", unit }, "{timestamp}.{body}"),
  ),
  id: ["body:id"],
  type: ["body:event_type.id"],
});
