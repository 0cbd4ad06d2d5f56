import { provider } from "../provider.ts";
import { timestamped } from "../signing.ts";

export default provider({
  title: "Webflow",
  docs: "https://developers.webflow.com/data/reference/request-signatures",
  // The page's example compares milliseconds.
  schemes: (["ms", "s"] as const).map((unit) =>
    timestamped("x-webflow-signature", { header: "x-webflow-timestamp", unit }, "{timestamp}:{body}"),
  ),
  type: ["body:triggerType"],
  evidence: { kind: "sdk", by: "webflow-api@3.3.4" },
});
