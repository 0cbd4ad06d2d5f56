import { DAY_MS } from "../../lib/durations.ts";
import type { CatchUpAdapter, ListedAttempt } from "./adapter.ts";
import { listOf, memberOf, textAt } from "./adapter.ts";

// Each has its whole body, and these may be large.
const PER_PAGE = 20;

/**
 * GitLab lists every attempt of a webhook without its time, and repeats one when asked, five in a minute. A repeat has
 * the same idempotency key. It keeps them for 7 days.
 */
export const gitlab: CatchUpAdapter = {
  hosts: ["gitlab.com"],
  hook: {
    pattern: /^(?:\/[^/]+)*\/api\/v4\/(?:projects|groups)\/[^/]+\/hooks\/\d+$/,
    example: "https://gitlab.com/api/v4/projects/42/hooks/7",
  },
  token: "an access token with the scope api, of a maintainer",
  keepsMs: 7 * DAY_MS,
  hasNoTimes: true,
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
      redeliver: ({ id }) => ({ url: `${hook}/events/${id}/resend`, body: "", headers }),
    };
  },
};

function listedOf(event: unknown): ListedAttempt {
  const id = textAt(event, "id") ?? "";
  const sent = Object.entries(memberOf(event, "request_headers") ?? {});
  const headerOf = (name: string) => sent.find(([key]) => key.toLowerCase() === name)?.[1] as string | undefined;
  const eventId = headerOf("webhook-id") ?? headerOf("idempotency-key") ?? null;
  const isDelivered = /^2\d\d$/.test(textAt(event, "response_status") ?? "");
  return { item: eventId ?? id, id, at: null, outcome: isDelivered ? "delivered" : "failed", eventId };
}
