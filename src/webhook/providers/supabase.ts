import { provider } from "../provider.ts";
import { standardWebhooks } from "../signing.ts";

export default provider({
  title: "Supabase",
  docs: "https://supabase.com/docs/guides/auth/auth-hooks",
  schemes: standardWebhooks("webhook"),
  id: ["header:webhook-id"],
  type: ["body:type"],
  evidence: { kind: "sdk", by: "standardwebhooks@1.1.1" },
});
