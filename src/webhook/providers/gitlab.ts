import { DAY_MS } from "../../lib/durations.ts";
import { type CatchUpAdapter, type ListedAttempt, listOf, memberOf, textAt, timeOf } from "../provider/catch-up.ts";
import { provider, says } from "../provider.ts";
import { standardWebhooks } from "../signature/signing.ts";

// The most that it takes.
const PER_PAGE = 20;

/**
 * GitLab lists every attempt of a webhook, in newer versions with its time, and repeats one when asked, five in a
 * minute. A repeat has the same idempotency key. It keeps them for 7 days.
 */
const catchUp: CatchUpAdapter = {
  hosts: ["gitlab.com"],
  hook: {
    pattern: /^(?:\/[^/]+)*\/api\/v4\/(?:projects|groups)\/[^/]+\/hooks\/\d+$/,
    example: "https://gitlab.com/api/v4/projects/42/hooks/7",
  },
  token: "an access token with the scope api, of a maintainer",
  keepsMs: 7 * DAY_MS,
  hasNoTimes: true,
  stops: [
    { reason: /hook disabled/i, remedy: "GitLab has disabled the webhook: send a test request in its settings" },
    { reason: /silent mode/i, remedy: "GitLab sends nothing in silent mode: ask its administrator" },
  ],
  docs: "https://docs.gitlab.com/api/project_webhooks/",
  async open({ hook, token }) {
    const headers = { "private-token": token };
    const page = (number: string) => ({ url: `${hook}/events?per_page=${PER_PAGE}&page=${number}`, headers });
    return {
      firstPage: () => page("1"),
      readPage({ json, headers: answered }) {
        const next = String(answered["x-next-page"] ?? "");
        return { listed: listOf(json).map(listedOf), next: next === "" ? null : page(next) };
      },
      redeliver: ({ id }) => ({ url: `${hook}/events/${encodeURIComponent(id)}/resend`, method: "POST", headers }),
    };
  },
};

function listedOf(event: unknown): ListedAttempt {
  const id = textAt(event, "id") ?? "";
  const sent = Object.entries(memberOf(event, "request_headers") ?? {});
  const headerOf = (name: string) => sent.find(([key]) => key.toLowerCase() === name)?.[1] as string | undefined;
  const eventId = headerOf("webhook-id") ?? headerOf("idempotency-key") ?? null;
  const isDelivered = /^2\d\d$/.test(textAt(event, "response_status") ?? "");
  return {
    item: eventId ?? id,
    id,
    at: timeOf(textAt(event, "created_at")),
    outcome: isDelivered ? "delivered" : "failed",
    eventId,
    // What it keeps instead of a payload that was too large. A repeat would deliver that.
    ...(memberOf(memberOf(event, "request_data"), "oversize") === true && { isGone: true }),
  };
}

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
