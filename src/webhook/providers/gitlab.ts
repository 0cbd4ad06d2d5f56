import { gitlab as catchUp } from "../catch-up/gitlab.ts";
import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

export default provider({
  title: "GitLab",
  docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
  schemes: [standardWebhooks("webhook"), { type: "token", header: "x-gitlab-token" }],
  covers: "part",
  // Webhooks that set off each other share X-Gitlab-Event-UUID.
  id: ["header:webhook-id", "header:idempotency-key"],
  type: ["header:x-gitlab-event", "body:object_kind"],
  dedupe: {
    mode: "id",
    why: "A repeat keeps its idempotency key.",
    source: "https://gitlab.com/gitlab-org/gitlab/-/merge_requests/160952",
  },
  catchUp,
  facts: {
    ...says(
      "https://github.com/hookdeck/webhook-skills/blob/f8a48018583392f7ec4346d7325e90291b528e3a/skills/gitlab-webhooks/references/overview.md",
      { answerSeconds: 10 },
    ),
    ...says("https://gitlab.com/gitlab-org/gitlab/-/merge_requests/166329", {
      disables: "for a while after 4 failures in a row, for good after 40",
    }),
    ...says("https://docs.gitlab.com/administration/instance_limits/", { maxBodyBytes: 25 * 1024 * 1024 }),
  },
});
