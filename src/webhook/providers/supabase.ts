import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Supabase",
  docs: "https://supabase.com/docs/guides/auth/auth-hooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  facts: says(
    "https://github.com/supabase/auth/blob/bc32168e13fdc928c98b449fc76bc3fdb9a293c5/internal/hooks/hookshttp/hookshttp.go",
    {
      repeatChanges: ["id", "time"],
      rotation: "several signatures in one header, a comma and a blank between them",
      answer: "204, or 200 or 202 with JSON",
      answerSeconds: 5,
      repeats: "automatic",
      schedule: "twice, 2 seconds after a failed connection or at once after 429 or 503 with Retry-After",
      repeatsForSeconds: 5,
    },
  ),
  evidence: { kind: "sdk", by: "standardwebhooks@1.1.1" },
});
