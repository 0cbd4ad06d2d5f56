import { provider, says } from "../provider.ts";
import { timestamped } from "../signature/signing.ts";

export default provider({
  title: "Webflow",
  docs: "https://developers.webflow.com/data/reference/request-signatures",
  // The page's example compares milliseconds.
  schemes: (["ms", "s"] as const).map((unit) =>
    timestamped("x-webflow-signature", { header: "x-webflow-timestamp", unit }, "{timestamp}:{body}"),
  ),
  type: ["body:triggerType"],
  facts: says("https://developers.webflow.com/data/v1.0.0/docs/limits-and-retries", {
    repeats: "automatic",
    schedule: "3 times, every 10 minutes",
    repeatsForSeconds: 1800,
  }),
  evidence: { kind: "sdk", by: "webflow-api@3.3.4" },
});
