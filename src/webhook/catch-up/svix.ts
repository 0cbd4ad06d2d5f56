import { DAY_MS } from "../../lib/durations.ts";
import type { CatchUpAdapter, ListedAttempt } from "./adapter.ts";
import { listOf, memberOf, textAt, timeOf } from "./adapter.ts";

/** The attempts' numbers for their status. */
const OUTCOMES: readonly ListedAttempt["outcome"][] = ["delivered", "pending", "failed", "pending"];

/**
 * Svix lists every attempt of an endpoint, and repeats a message to it when asked. The id of a message is that of its
 * deliveries. While an endpoint is disabled, as after failures for five days, Svix attempts nothing: such messages are
 * delivered when asked for together. Servers of one's own have the same API without that.
 */
export const svix: CatchUpAdapter = {
  hosts: [
    "api.svix.com",
    "api.us.svix.com",
    "api.eu.svix.com",
    "api.in.svix.com",
    "api.ca.svix.com",
    "api.au.svix.com",
  ],
  hook: {
    pattern: /^\/api\/v1\/app\/[^/]+\/endpoint\/[^/]+$/,
    example: "https://api.us.svix.com/api/v1/app/APP_ID/endpoint/ENDPOINT_ID",
  },
  token: "a token of the Svix API for the application",
  keepsMs: 90 * DAY_MS,
  docs: "https://api.svix.com/docs#tag/Message-Attempt",
  async open({ hook, token }, send) {
    const headers = { authorization: `Bearer ${token}` };
    const isDisabled = memberOf((await send({ url: hook ?? "", headers })).json, "disabled") === true;
    if (isDisabled) throw new Error("the endpoint is disabled at Svix: enable it there, and catch up again");
    const [app = "", endpoint = ""] = (hook ?? "").split("/endpoint/");
    let listUrl = "";
    return {
      firstPage(from) {
        const after = encodeURIComponent(new Date(from).toISOString());
        listUrl = `${app}/attempt/endpoint/${endpoint}?limit=100&with_content=false&after=${after}`;
        return { url: listUrl, headers };
      },
      readPage({ json }) {
        const iterator = textAt(json, "iterator");
        const isDone = memberOf(json, "done") === true || iterator === null;
        return {
          listed: listOf(memberOf(json, "data")).map(listedOf),
          next: isDone ? null : { url: `${listUrl}&iterator=${encodeURIComponent(iterator)}`, headers },
        };
      },
      redeliver: ({ id }) => ({
        url: `${app}/msg/${encodeURIComponent(id)}/endpoint/${endpoint}/resend`,
        method: "POST",
        headers,
      }),
      deliverUntried: (from) => ({
        url: `${hook}/replay-missing`,
        headers,
        body: JSON.stringify({ since: new Date(from).toISOString() }),
      }),
    };
  },
};

function listedOf(attempt: unknown): ListedAttempt {
  const message = textAt(attempt, "msgId") ?? "";
  const outcome = OUTCOMES[Number(textAt(attempt, "status"))] ?? "unknown";
  return { item: message, id: message, at: timeOf(textAt(attempt, "timestamp")), outcome, eventId: message };
}
