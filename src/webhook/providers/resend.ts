import { randomUUID } from "node:crypto";
import { iso, messageId } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "Resend",
  docs: "https://resend.com/docs/webhooks/verify-webhooks-requests",
  schemes: standardWebhooks("svix"),
  id: ["header:svix-id"],
  type: ["body:type"],
  deliversAgain: "https://resend.com/docs/api-reference/webhooks/replay-event",
  facts: {
    ...says("https://github.com/resend/resend-skills/blob/main/skills/agent-email-inbox/references/webhook-setup.md", {
      answer: "any 2xx",
    }),
    ...says("https://resend.com/docs/webhooks/retries-and-replays", {
      repeats: "automatic",
      schedule: "after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours",
      repeatsForSeconds: 99_305,
    }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/symfony/symfony/blob/5feb7493c372384d78b4931bb76f73c83f49f50e/src/Symfony/Component/Mailer/Bridge/Resend/Tests/Webhook/ResendRequestParserTest.php",
  },
  sample: {
    type: "email.delivered",
    newId: messageId,
    headers: ({ id }) => ({ "user-agent": "Svix-Webhooks/1.84.0", "svix-id": id }),
    content: {
      json: ({ type, now }) => ({
        type,
        created_at: iso(now),
        data: {
          created_at: iso(now - 1500).replace("Z", "+00:00"),
          email_id: randomUUID(),
          from: "Acme <billing@example.com>",
          to: ["customer@example.com"],
          subject: "Your receipt",
          tags: { category: "receipt" },
        },
      }),
    },
  },
});
